import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import assert from 'node:assert/strict';
import { createApiGateway } from '../../../../infra/local/emulator/gateway/api-gateway.ts';
import type { HttpRequest, Pair } from '../../../../infra/local/emulator/gateway/http-message.ts';
import { lambdaStub, policyOf, resultOf } from '../lambda-stub.ts';
import {
  alias,
  lambdaFunction,
  method,
  mock,
  pathResource,
  proxyTo,
  role,
  root,
  sampleApi,
  sampleGatewayResponses,
  type SampleResources,
  templateOf,
  tokenAuthorizer,
  withProperties,
} from '../sample-resources.ts';

const authorizerArn = { 'Fn::GetAtt': ['AuthorizerFunction', 'Arn'] };
const withApiKey = { AuthorizationType: 'CUSTOM', AuthorizerId: { Ref: 'Authorizer' } };
const resources: SampleResources = {
  ...sampleApi,
  Role: role,
  ListBooks: lambdaFunction('list-books'),
  ListBooksLive: alias('ListBooks', 'live'),
  AuthorizerFunction: lambdaFunction('authorizer'),
  Authorizer: tokenAuthorizer(authorizerArn),
  Books: pathResource(root, 'books'),
  BooksGet: withProperties(method({ Ref: 'Books' }, 'GET', proxyTo({ Ref: 'ListBooksLive' })), withApiKey),
  BooksAny: method({ Ref: 'Books' }, 'ANY', mock('405')),
  ...sampleGatewayResponses,
};

const ok = resultOf({ statusCode: 200, headers: { Link: '</>' }, body: '[]' });
const allow = { Effect: 'Allow', Resource: 'arn:aws:execute-api:us-east-1:000000000000:Api/staging/*/*' };

/** Sends a request to an API whose function returns `outcome` and whose authorizer's policy contains `statement`. */
async function send(path: string, request: Partial<HttpRequest> = {}, outcome = ok, statement = allow) {
  const { invoke } = lambdaStub(outcome);
  const functions = new Map([
    ['ListBooks', { invoke }],
    ['AuthorizerFunction', lambdaStub(resultOf(policyOf(statement)))],
  ]);
  const headers: Pair[] = [['authorization', 'Bearer abc']];
  const defaults = {
    method: 'GET',
    path,
    query: '',
    headers,
    host: 'localhost',
    body: [],
    sourceIp: '127.0.0.1',
  };
  const api = createApiGateway(templateOf(resources), functions);
  return { response: await api.handle({ ...defaults, ...request }), invoke };
}

beforeEach(() => {
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('the emulator of API Gateway', () => {
  test("returns the function's result with the request id", async () => {
    const { response, invoke } = await send('/books', { query: 'limit=5' });
    expect(response).toEqual({
      status: 200,
      headers: { 'Content-Type': 'application/json', Link: '</>', 'x-amzn-RequestId': expect.any(String) },
      body: '[]',
    });
    expect(invoke.mock.calls).toMatchObject([
      [
        {
          resource: '/books',
          queryStringParameters: { limit: '5' },
          requestContext: {
            apiId: 'Api',
            stage: 'staging',
            requestId: response.headers['x-amzn-RequestId'],
            authorizer: { principalId: 'key_1', keyId: 'key_1' },
          },
        },
      ],
    ]);
  });

  const key: Pair = ['Authorization', 'Bearer abc'];
  /** Body that fails the test if it is read. */
  const unread = { [Symbol.iterator]: () => assert.fail('The body was read.') };
  const unlisted: Partial<HttpRequest> = { method: 'PUT', headers: [['Content-Type', 'toString']] };
  const tooLarge: Partial<HttpRequest> = { headers: [['content-length', '10485761']] };
  const deny = { ...allow, Effect: 'Deny' };
  const invalid = { ...allow, Effect: 'Maybe' };
  test.each<[string, number, string, Parameters<typeof send>, invocations?: number]>([
    ['MISSING_AUTHENTICATION_TOKEN', 404, 'an unknown path', ['/other']],
    ['UNAUTHORIZED', 401, 'a missing key', ['/books', { headers: [], body: unread }]],
    ['UNAUTHORIZED', 401, 'two keys', ['/books', { headers: [key, key] }]],
    ['ACCESS_DENIED', 401, 'a denied request', ['/books', { body: unread }, ok, deny]],
    ['AUTHORIZER_CONFIGURATION_ERROR', 503, 'an invalid policy', ['/books', {}, ok, invalid]],
    ['REQUEST_TOO_LARGE', 413, 'a body over 10 MB', ['/other', tooLarge]],
    ['REQUEST_TOO_LARGE', 413, 'an event over 6 MB', ['/books', { body: [Buffer.alloc(6_291_456, 'a')] }]],
    ['UNSUPPORTED_MEDIA_TYPE', 415, 'a media type that the mock does not list', ['/books', unlisted]],
    ['DEFAULT_5XX', 500, 'an error in the function', ['/books', {}, { error: 'test error' }], 1],
  ])('returns the gateway response %s (%i) for %s', async (type, status, _case, request, times = 0) => {
    const { response, invoke } = await send(...request);
    const requestId = response.headers['x-amzn-RequestId'];
    expect(requestId).toMatch(/^[\da-f-]{36}$/);
    expect(response).toMatchObject({ status, headers: { 'Content-Type': 'application/json' } });
    expect(response.body).toBe(
      `{"code":"${type.toLowerCase()}","message":"See ${requestId}","status":${status}}`,
    );
    expect(invoke).toHaveBeenCalledTimes(times);
  });

  test('accepts an event of slightly less than 6 MB', async () => {
    const { response } = await send('/books', { body: [Buffer.alloc(6_280_000, 'a')] });
    expect(response.status).toBe(200);
  });

  const json = { 'Content-Type': 'application/json' };
  const remapped = { ...json, 'x-amzn-Remapped-www-authenticate': 'a' };
  const framing = { 'Content-Length': '5', 'Transfer-Encoding': 'chunked', Connection: 'close' };
  const remappedFraming = {
    ...json,
    'x-amzn-Remapped-Content-Length': '5',
    'x-amzn-Remapped-Transfer-Encoding': 'chunked',
    'x-amzn-Remapped-Connection': 'close',
  };
  test.each([
    ['scalar headers', { Age: 5, X: true, Link: '</>' }, 201, { ...json, Age: '5', X: 'true', Link: '</>' }],
    ['a Content-Type', { 'Content-Type': 'text/plain' }, 200, { 'Content-Type': 'text/plain' }],
    ['the status 204', undefined, 204, {}],
    ['a content-type in lowercase', { 'content-type': 'text/plain' }, 200, { 'content-type': 'text/plain' }],
    ['WWW-Authenticate', { 'www-authenticate': 'a' }, 200, remapped],
    ['headers that describe the body', framing, 200, remappedFraming],
    ['the highest status', {}, 599, json],
  ])('accepts a result with %s', async (_name, headers, statusCode, expected) => {
    const { response } = await send('/books', {}, resultOf({ statusCode, headers }));
    const all = { ...expected, 'x-amzn-RequestId': expect.any(String) };
    expect(response).toEqual({ status: statusCode, headers: all, body: '' });
  });

  test.each([
    ['that is null', null, 'result: Invalid type: Expected Object but received null'],
    ['with an unknown field', { statusCode: 200, cookies: [] }, 'cookies: Invalid key'],
    ['with a fractional status', { statusCode: 200.5 }, 'statusCode: Invalid integer'],
    [
      'with the status of an interim response',
      { statusCode: 199 },
      'statusCode: Invalid value: Expected >=200',
    ],
    ['with an unknown status', { statusCode: 600 }, 'statusCode: Invalid value: Expected <=599'],
    ['with an object as its body', { statusCode: 200, body: {} }, 'body: Invalid type: Expected string'],
    ['with an object as a header', { statusCode: 200, headers: { A: {} } }, 'headers.A: Invalid type'],
    [
      'with an invalid header name',
      { statusCode: 200, headers: { 'A b': '' } },
      'headers.A b: Invalid header name',
    ],
    [
      'with a line break in a header',
      { statusCode: 200, headers: { A: '1\n2' } },
      'headers.A: Invalid header value',
    ],
    [
      'with a Base64-encoded body',
      { statusCode: 200, isBase64Encoded: true },
      'isBase64Encoded: Invalid type',
    ],
  ])('rejects a result %s, and prints what is malformed', async (_name, result, problem) => {
    const { response } = await send('/books', {}, resultOf(result));
    expect(response).toMatchObject({ status: 500, body: expect.stringContaining('default_5xx') });
    const message = expect.stringContaining(`ListBooks: malformed result: ${problem}`);
    expect(console.error).toHaveBeenCalledWith(message);
  });

  describe('limits the memory for bodies', () => {
    const megabyte = Buffer.alloc(1_000_000, 'a');

    test('and stops reading a chunked body that exceeds the maximum size of an event', async () => {
      let chunks = 0;
      async function* huge() {
        for (; chunks < 100; chunks += 1) yield megabyte;
      }
      expect((await send('/books', { body: huge() })).response.status).toBe(413);
      expect(chunks).toBe(6);
    });

    test('and does not read a body whose Content-Length exceeds the maximum size of an event', async () => {
      const headers: Pair[] = [key, ['content-length', '6291457']];
      expect((await send('/books', { body: unread, headers })).response.status).toBe(413);
    });

    test('and reads the next large body only when the function has handled the previous one', async () => {
      const invoked: number[] = [];
      const held = Promise.withResolvers<typeof ok>();
      const invoke = ({ body }: any) => {
        invoked.push(body.length);
        return body.length === 2_000_000 ? held.promise : Promise.resolve(ok);
      };
      const authorizer = lambdaStub(resultOf(policyOf(allow)));
      const functions = new Map([
        ['ListBooks', { invoke: invoke as never }],
        ['AuthorizerFunction', authorizer],
      ]);
      const api = createApiGateway(templateOf(resources), functions);
      const request = { method: 'GET', path: '/books', query: '', headers: [key], host: '', sourceIp: '' };
      let hasReadSecond = false;
      function* second() {
        yield megabyte;
        hasReadSecond = true;
        yield megabyte.subarray(1);
      }
      const large = [
        api.handle({ ...request, body: [megabyte, megabyte] }),
        api.handle({ ...request, body: second() }),
      ];
      const small = Array.from({ length: 3 }, () =>
        api.handle({ ...request, body: [megabyte.subarray(-9)] }),
      );
      for (const { status } of await Promise.all(small)) expect(status).toBe(200);
      expect({ invoked: invoked.toSorted((a, b) => a - b), hasReadSecond }).toEqual({
        invoked: [9, 9, 9, 2_000_000],
        hasReadSecond: false,
      });
      held.resolve(ok);
      for (const { status } of await Promise.all(large)) expect(status).toBe(200);
      expect(invoked.at(-1)).toBe(1_999_999);
    });

    test('and serves other clients after a client has disconnected during a large body', async () => {
      async function* interrupted() {
        yield megabyte;
        throw new Error('aborted');
      }
      const { invoke } = lambdaStub(ok);
      const functions = new Map([
        ['ListBooks', { invoke }],
        ['AuthorizerFunction', lambdaStub(resultOf(policyOf(allow)))],
      ]);
      const api = createApiGateway(templateOf(resources), functions);
      const request = { method: 'GET', path: '/books', query: '', headers: [key], host: '', sourceIp: '' };
      await expect(api.handle({ ...request, body: interrupted() })).rejects.toThrow('aborted');
      expect((await api.handle({ ...request, body: [megabyte] })).status).toBe(200);
    });
  });
});

test('the emulator rejects a stack with two REST APIs', () => {
  const message = 'The emulator supports only stacks with exactly one AWS::ApiGateway::RestApi.';
  const template = templateOf({ ...resources, OtherApi: sampleApi.Api });
  expect(() => createApiGateway(template, new Map())).toThrow(message);
});

test('the emulator rejects a stack that leaves a gateway response to API Gateway', () => {
  const { Unauthorized: _unauthorized, ...others } = resources;
  expect(() => createApiGateway(templateOf(others), new Map())).toThrow(
    'The stack does not define the gateway response UNAUTHORIZED.',
  );
});
