import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import assert from 'node:assert/strict';
import {
  type ApiGateway,
  createApiGateway,
} from '../../../../../infra/local/emulator/gateway/api-gateway.ts';
import type { HttpRequest } from '../../../../../infra/local/emulator/gateway/http-message.ts';
import type { Invocation } from '../../../../../infra/local/emulator/lambda/lambda.ts';
import { type LambdaStub, lambdaStub, policyOf, resultOf } from '../lambda-stub.ts';
import {
  alias,
  guarded,
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
} from '../sample-resources.ts';

const authorizerArn = { 'Fn::GetAtt': ['AuthorizerFunction', 'Arn'] };
const resources: SampleResources = {
  ...sampleApi,
  Role: role,
  Function: lambdaFunction('function'),
  Live: alias('Function', 'live'),
  AuthorizerFunction: lambdaFunction('authorizer'),
  Authorizer: tokenAuthorizer(authorizerArn),
  Things: pathResource(root, 'things'),
  ThingsGet: guarded(method({ Ref: 'Things' }, 'GET', proxyTo({ Ref: 'Live' }))),
  ThingsAny: method({ Ref: 'Things' }, 'ANY', mock('405')),
  ...sampleGatewayResponses,
};

const ok = resultOf({ statusCode: 200, headers: { Link: '</>' }, body: '[]' });

interface Sample {
  api: ApiGateway;
  stub: LambdaStub;
}

function apiWith(outcome: Invocation = ok, policy: unknown = policyOf(allow)): Sample {
  const stub = lambdaStub(outcome);
  const functions = new Map([
    ['Function', stub],
    ['AuthorizerFunction', lambdaStub(resultOf(policy))],
  ]);
  return { api: createApiGateway(templateOf(resources), functions), stub };
}

const allow = { Effect: 'Allow', Resource: 'arn:aws:execute-api:us-east-1:000000000000:Api/sample/*/*' };
const deny = { ...allow, Effect: 'Deny' };

function get(path: string, request: Partial<HttpRequest> = {}): HttpRequest {
  const headers: HttpRequest['headers'] = [['authorization', 'Bearer abc']];
  const sourceIp = '127.0.0.1';
  return { method: 'GET', path, query: '', headers, body: [], sourceIp, ...request };
}

beforeEach(() => {
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('API Gateway', () => {
  test("returns the function's result with the request id", async () => {
    const { api, stub } = apiWith();
    const response = await api.handle(get('/things', { query: 'limit=5' }));
    expect(response).toEqual({
      status: 200,
      headers: { 'Content-Type': 'application/json', Link: '</>', 'x-amzn-RequestId': expect.any(String) },
      body: '[]',
    });
    expect(stub.events).toMatchObject([
      {
        resource: '/things',
        queryStringParameters: { limit: '5' },
        requestContext: {
          apiId: 'Api',
          stage: 'sample',
          requestId: response.headers['x-amzn-RequestId'],
          authorizer: { principalId: 'key_1', keyId: 'key_1' },
        },
      },
    ]);
  });

  const tooLarge = { body: [Buffer.alloc(6_291_456, 'a')] };
  const tooLargeForAnyPath: Partial<HttpRequest> = { headers: [['content-length', '10485761']] };
  /** Body that fails the test if it is read. */
  const unread = { [Symbol.iterator]: () => assert.fail('The body was read.') };
  const key: [string, string] = ['Authorization', 'Bearer abc'];
  const unlisted = get('/things', { method: 'PUT', headers: [['Content-Type', 'toString']] });
  test.each<[string, number, string, Sample, HttpRequest, invocations?: number]>([
    ['MISSING_AUTHENTICATION_TOKEN', 404, 'an unknown path', apiWith(), get('/other')],
    ['UNAUTHORIZED', 401, 'a missing key', apiWith(), get('/things', { headers: [], body: unread })],
    ['UNAUTHORIZED', 401, 'two keys', apiWith(), get('/things', { headers: [key, key] })],
    ['ACCESS_DENIED', 401, 'a denied request', apiWith(ok, policyOf(deny)), get('/things', { body: unread })],
    ['AUTHORIZER_CONFIGURATION_ERROR', 503, 'a malformed policy', apiWith(ok, null), get('/things')],
    ['REQUEST_TOO_LARGE', 413, 'a body over 10 MB', apiWith(), get('/other', tooLargeForAnyPath)],
    ['REQUEST_TOO_LARGE', 413, 'an event over 6 MB', apiWith(), get('/things', tooLarge)],
    ['UNSUPPORTED_MEDIA_TYPE', 415, 'a media type that the mock does not list', apiWith(), unlisted],
    ['DEFAULT_5XX', 500, 'an error in the function', apiWith({ error: 'test error' }), get('/things'), 1],
  ])(
    'returns the gateway response %s (%i) for %s',
    async (type, status, _case, sample, request, times = 0) => {
      const response = await sample.api.handle(request);
      const requestId = response.headers['x-amzn-RequestId'];
      expect(requestId).toMatch(/^[\da-f-]{36}$/);
      expect(response).toMatchObject({ status, headers: { 'Content-Type': 'application/json' } });
      expect(response.body).toBe(
        `{"code":"${type.toLowerCase()}","message":"See ${requestId}","status":${status}}`,
      );
      expect(sample.stub.events).toHaveLength(times);
    },
  );

  test('accepts an event of slightly less than 6 MB', async () => {
    const request = get('/things', { body: [Buffer.alloc(6_280_000, 'a')] });
    expect(await apiWith().api.handle(request)).toMatchObject({ status: 200 });
  });

  const json = { 'Content-Type': 'application/json' };
  test.each([
    ['scalar headers', { Age: 5, X: true, Link: '</>' }, 201, { ...json, Age: '5', X: 'true', Link: '</>' }],
    ['a Content-Type', { 'Content-Type': 'text/plain' }, 200, { 'Content-Type': 'text/plain' }],
    ['the status 204', undefined, 204, {}],
    [
      'WWW-Authenticate',
      { 'www-authenticate': 'a' },
      200,
      { ...json, 'x-amzn-Remapped-www-authenticate': 'a' },
    ],
  ])('accepts a result with %s', async (_name, headers, statusCode, expected) => {
    const { api } = apiWith(resultOf({ statusCode, headers }));
    const { status, ...response } = await api.handle(get('/things'));
    const all = { ...expected, 'x-amzn-RequestId': expect.any(String) };
    expect([status, response]).toEqual([statusCode, { headers: all, body: '' }]);
  });

  test.each([
    ['that is null', null],
    ['with an unknown field', { statusCode: 200, cookies: [] }],
    ['with a fractional status', { statusCode: 200.5 }],
    ['with an object as its body', { statusCode: 200, body: {} }],
    ['with an object as a header', { statusCode: 200, headers: { A: {} } }],
    ['with a base64 body', { statusCode: 200, isBase64Encoded: true }],
  ])('rejects a result %s', async (_name, result) => {
    expect(await apiWith(resultOf(result)).api.handle(get('/things'))).toMatchObject({ status: 500 });
    expect(console.error).toHaveBeenCalledWith('Function: malformed result');
  });
});

test('a stack with two REST APIs is not supported', () => {
  const message = 'The emulator supports only stacks with exactly one AWS::ApiGateway::RestApi.';
  const template = templateOf({ ...resources, OtherApi: sampleApi.Api });
  expect(() => createApiGateway(template, new Map())).toThrow(message);
});
