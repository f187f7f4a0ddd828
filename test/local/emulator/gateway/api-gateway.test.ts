import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import assert from 'node:assert/strict';
import { createApiGateway } from '../../../../infra/local/emulator/gateway/api-gateway.ts';
import type { HttpRequest, Pair } from '../../../../infra/local/emulator/gateway/http-message.ts';
import type { LambdaFunction } from '../../../../infra/local/emulator/lambda/lambda.ts';
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

/** Returns an API whose function is `invoke` and whose authorizer's policy contains `statement`. */
function apiOf(invoke: LambdaFunction['invoke'], statement = allow) {
  const functions = new Map([
    ['ListBooks', { invoke }],
    ['AuthorizerFunction', lambdaStub(resultOf(policyOf(statement)))],
  ]);
  return createApiGateway(templateOf(resources), functions);
}

function requestOf(path: string, changes: Partial<HttpRequest> = {}): HttpRequest {
  const headers: Pair[] = [['authorization', 'Bearer abc']];
  const source = { host: 'localhost', sourceIp: '127.0.0.1' };
  return { method: 'GET', path, query: '', headers, body: [], ...source, ...changes };
}

/** Sends a request to an API whose function returns `outcome`. */
async function send(path: string, changes: Partial<HttpRequest> = {}, outcome = ok, statement = allow) {
  const { invoke } = lambdaStub(outcome);
  return { response: await apiOf(invoke, statement).handle(requestOf(path, changes)), invoke };
}

beforeEach(() => {
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

test("API Gateway calls the function with the key's context, and returns the result with the request id", async () => {
  const { response, invoke } = await send('/books', { query: 'limit=5' });
  expect(response).toEqual({
    status: 200,
    headers: { 'Content-Type': 'application/json', Link: '</>', 'x-amzn-RequestId': expect.any(String) },
    body: '[]',
  });
  const requestId = response.headers['x-amzn-RequestId'];
  const requestContext = {
    apiId: 'Api',
    stage: 'staging',
    requestId,
    authorizer: { principalId: 'key_1', keyId: 'key_1' },
  };
  const event = { resource: '/books', queryStringParameters: { limit: '5' }, requestContext };
  expect(invoke.mock.calls).toMatchObject([[event]]);
});

test('API Gateway returns a gateway response to a request that it rejects, and does not call the function', async () => {
  const key: Pair = ['Authorization', 'Bearer abc'];
  /** Body that fails the test if it is read. */
  const unread = { [Symbol.iterator]: () => assert.fail('The body was read.') };
  const withLength = (length: string): Partial<HttpRequest> => ({
    headers: [key, ['content-length', length]],
    body: unread,
  });
  const unlisted: Partial<HttpRequest> = { method: 'PUT', headers: [['Content-Type', 'toString']] };
  const largest = { body: [Buffer.alloc(6_291_456, 'a')] }; // The event around the body exceeds the limit.
  const requests: Record<string, Parameters<typeof send>> = {
    'an unknown path': ['/other'],
    'no key': ['/books', { headers: [], body: unread }],
    'two keys': ['/books', { headers: [key, key] }],
    'a denied key': ['/books', { body: unread }, ok, { ...allow, Effect: 'Deny' }],
    'an invalid policy': ['/books', {}, ok, { ...allow, Effect: 'Maybe' }],
    'over 10 MB on any path': ['/other', withLength('10485761')],
    'over 6 MB for a function': ['/books', withLength('6291457')],
    'an event over 6 MB': ['/books', largest],
    'another media type': ['/books', unlisted],
  };
  const responses: Record<string, string> = {};
  for (const [name, parameters] of Object.entries(requests)) {
    const { response, invoke } = await send(...parameters);
    const { code, message } = JSON.parse(response.body);
    const isCalled = invoke.mock.calls.length > 0;
    const hasId = message === `See ${response.headers['x-amzn-RequestId']}`;
    responses[name] = isCalled || !hasId ? response.body : `${response.status} ${code}`;
  }
  expect(responses).toEqual({
    'an unknown path': '404 missing_authentication_token',
    'no key': '401 unauthorized',
    'two keys': '401 unauthorized',
    'a denied key': '401 access_denied',
    'an invalid policy': '503 authorizer_configuration_error',
    'over 10 MB on any path': '413 request_too_large',
    'over 6 MB for a function': '413 request_too_large',
    'an event over 6 MB': '413 request_too_large',
    'another media type': '415 unsupported_media_type',
  });
});

test('API Gateway returns a 500 if the function fails', async () => {
  const { response } = await send('/books', {}, { error: 'test error' });
  expect([response.status, JSON.parse(response.body).code]).toEqual([500, 'default_5xx']);
});

test('API Gateway renames the headers that a function must not set, and sends the others as text', async () => {
  const headers = {
    Age: 5,
    X: true,
    'content-type': 'text/plain',
    'www-authenticate': 'a',
    'Content-Length': '5',
    'Transfer-Encoding': 'chunked',
    Connection: 'close',
  };
  const { response } = await send('/books', {}, resultOf({ statusCode: 201, headers }));
  expect(response).toEqual({
    status: 201,
    headers: {
      Age: '5',
      X: 'true',
      'content-type': 'text/plain',
      'x-amzn-Remapped-www-authenticate': 'a',
      'x-amzn-Remapped-Content-Length': '5',
      'x-amzn-Remapped-Transfer-Encoding': 'chunked',
      'x-amzn-Remapped-Connection': 'close',
      'x-amzn-RequestId': expect.any(String),
    },
    body: '',
  });
});

test('API Gateway returns a 500 for a malformed result, and the emulator prints what is malformed', async () => {
  const malformed = {
    result: null,
    cookies: { statusCode: 200, cookies: [] },
    statusCode: { statusCode: 600 },
    body: { statusCode: 200, body: {} },
    'headers.A': { statusCode: 200, headers: { A: {} } },
    'headers.A b': { statusCode: 200, headers: { 'A b': '' } },
    isBase64Encoded: { statusCode: 200, isBase64Encoded: true },
  };
  const print = jest.spyOn(console, 'error').mockReturnValue();
  for (const [place, result] of Object.entries(malformed)) {
    const { response } = await send('/books', {}, resultOf(result));
    expect([place, response.status]).toEqual([place, 500]);
    expect(print.mock.lastCall?.[0]).toContain(`ListBooks: malformed result: ${place}: `);
  }
});

describe('the emulator limits the memory for bodies', () => {
  const megabyte = Buffer.alloc(1_000_000, 'a');

  test('and stops reading a chunked body that exceeds the maximum size of an event', async () => {
    let chunks = 0;
    async function* huge() {
      for (; chunks < 100; chunks += 1) yield megabyte;
    }
    expect((await send('/books', { body: huge() })).response.status).toBe(413);
    expect(chunks).toBe(6);
  });

  test('and reads a large body only after the previous one, while small bodies do not wait', async () => {
    const invoked: number[] = [];
    const held = Promise.withResolvers<typeof ok>();
    const api = apiOf(async (event) => {
      const { length } = (event as { body: string }).body;
      invoked.push(length);
      return length === 2_000_000 ? held.promise : ok;
    });
    const post = async (...body: Buffer[]) => (await api.handle(requestOf('/books', { body }))).status;
    const large = [post(megabyte, megabyte), post(megabyte, megabyte.subarray(1))];
    expect(await post(megabyte.subarray(-9))).toBe(200);
    expect(invoked).toEqual(expect.arrayContaining([9, 2_000_000]));
    expect(invoked).not.toContain(1_999_999);
    held.resolve(ok);
    expect(await Promise.all(large)).toEqual([200, 200]);
    expect(invoked.at(-1)).toBe(1_999_999);
  });

  test('and reads the next large body if a client disconnects during its own', async () => {
    async function* interrupted() {
      yield megabyte;
      throw new Error('aborted');
    }
    const api = apiOf(lambdaStub(ok).invoke);
    await expect(api.handle(requestOf('/books', { body: interrupted() }))).rejects.toThrow('aborted');
    expect((await api.handle(requestOf('/books', { body: [megabyte] }))).status).toBe(200);
  });
});

test('the emulator rejects a stack that leaves a gateway response to API Gateway', () => {
  const { Unauthorized: _unauthorized, ...others } = resources;
  expect(() => createApiGateway(templateOf(others), new Map())).toThrow('UNAUTHORIZED');
});
