import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type ApiGateway, createApiGateway } from '../../../../infra/local/gateway/api-gateway.ts';
import type { HttpRequest } from '../../../../infra/local/gateway/http-message.ts';
import type { Invocation } from '../../../../infra/local/lambda/invocation.ts';
import { type LambdaStub, lambdaStub, resultOf } from '../../../support/lambda-stub.ts';
import {
  gatewayResponse,
  guarded,
  lambdaFunction,
  method,
  mock,
  pathResource,
  permission,
  proxyTo,
  role,
  root,
  sampleApi,
  sampleGatewayResponses,
  type SampleResources,
  templateOf,
  tokenAuthorizer,
} from '../../../support/sample-resources.ts';

const resources: SampleResources = {
  ...sampleApi,
  Role: role,
  Function: lambdaFunction('function'),
  AuthorizerFunction: lambdaFunction('authorizer'),
  Authorizer: tokenAuthorizer('AuthorizerFunction'),
  AuthorizerPermission: permission('AuthorizerFunction', 'authorizers/${Authorizer}'),
  Pets: pathResource(root, 'pets'),
  PetsGet: guarded(method({ Ref: 'Pets' }, 'GET', proxyTo('Function'))),
  PetsGetPermission: permission('Function', 'sample/GET/pets'),
  PetsAny: method({ Ref: 'Pets' }, 'ANY', mock('405', ['application/json', 'text/plain'])),
  ...sampleGatewayResponses,
  UNAUTHORIZED: gatewayResponse('UNAUTHORIZED', '401', { 'WWW-Authenticate': 'Bearer realm="sample"' }),
  DEFAULT5XX: gatewayResponse('DEFAULT_5XX', '500', { 'Retry-After': '5' }),
};

const ok = resultOf({ statusCode: 200, headers: { Link: '</>' }, body: '[]' });

interface Sample {
  api: ApiGateway;
  petsFunction: LambdaStub;
}

function apiWith(outcome: Invocation = ok, policy: unknown = policyOf('Allow')): Sample {
  const petsFunction = lambdaStub(outcome);
  const functions = new Map([
    ['Function', petsFunction],
    ['AuthorizerFunction', lambdaStub(resultOf(policy))],
  ]);
  return { api: createApiGateway(templateOf(resources), functions), petsFunction };
}

function policyOf(Effect: 'Allow' | 'Deny'): object {
  const Resource = 'arn:aws:execute-api:us-east-1:000000000000:Api/sample/*/*';
  const Statement = [{ Action: 'execute-api:Invoke', Effect, Resource }];
  return {
    principalId: 'key_1',
    policyDocument: { Version: '2012-10-17', Statement },
    context: { keyId: 'key_1' },
  };
}

function get(path: string, request: Partial<HttpRequest> = {}): HttpRequest {
  const headers: [string, string][] = [['authorization', 'Bearer abc']];
  return {
    method: 'GET',
    path,
    query: '',
    headers,
    body: Buffer.alloc(0),
    sourceIp: '127.0.0.1',
    ...request,
  };
}

beforeEach(() => {
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('API Gateway', () => {
  test('responds with the result of the function and the request id', async () => {
    const { api, petsFunction } = apiWith();
    const response = await api.handle(get('/pets', { query: 'limit=5' }));
    expect(response).toEqual({
      status: 200,
      headers: { 'Content-Type': 'application/json', Link: '</>', 'x-amzn-RequestId': expect.any(String) },
      body: '[]',
    });
    expect(petsFunction.events).toMatchObject([
      {
        resource: '/pets',
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

  const tooLarge = Buffer.alloc(6_291_456, 'a');
  const twoKeys: [string, string][] = [
    ['Authorization', 'Bearer abc'],
    ['Authorization', 'Bearer abc'],
  ];
  const image = get('/pets', { method: 'PUT', headers: [['Content-Type', 'image/png']] });
  test.each<[string, number, string, Sample, HttpRequest]>([
    ['MISSING_AUTHENTICATION_TOKEN', 404, 'no route', apiWith(), get('/other')],
    ['UNAUTHORIZED', 401, 'no key', apiWith(), get('/pets', { headers: [] })],
    ['UNAUTHORIZED', 401, 'two keys', apiWith(), get('/pets', { headers: twoKeys })],
    ['ACCESS_DENIED', 401, 'a denied request', apiWith(ok, policyOf('Deny')), get('/pets')],
    ['AUTHORIZER_CONFIGURATION_ERROR', 503, 'a malformed policy', apiWith(ok, null), get('/pets')],
    ['REQUEST_TOO_LARGE', 413, 'an event over 6 MB', apiWith(), get('/pets', { body: tooLarge })],
    ['UNSUPPORTED_MEDIA_TYPE', 415, 'a media type that the mock does not list', apiWith(), image],
    ['DEFAULT_5XX', 500, 'an error of the function', apiWith({ error: 'no luck' }), get('/pets')],
    ['DEFAULT_5XX', 500, 'a malformed result', apiWith(resultOf({ body: '{}' })), get('/pets')],
  ])('gives the gateway response %s (%i) to %s', async (type, status, _condition, { api }, request) => {
    const response = await api.handle(request);
    const requestId = response.headers['x-amzn-RequestId'];
    expect(requestId).toMatch(/^[\da-f-]{36}$/);
    expect(response).toMatchObject({ status, headers: { 'Content-Type': 'application/json' } });
    expect(response.body).toBe(
      `{"code":"${type.toLowerCase()}","message":"See ${requestId}","status":${status}}`,
    );
  });

  test('adds the headers of the gateway response', async () => {
    const { api } = apiWith();
    expect((await api.handle(get('/pets', { headers: [] }))).headers).toMatchObject({
      'WWW-Authenticate': 'Bearer realm="sample"',
    });
    expect(api.gatewayResponse('DEFAULT_5XX').headers).toMatchObject({ 'Retry-After': '5' });
  });

  test('invokes the function only for requests that it does not reject', async () => {
    const { api, petsFunction } = apiWith();
    await api.handle(get('/pets', { headers: [] }));
    await api.handle(get('/pets', { body: Buffer.alloc(6_291_456) }));
    expect(petsFunction.events).toEqual([]);
    expect(await api.handle(get('/pets', { body: Buffer.alloc(6_280_000, 'a') }))).toMatchObject({
      status: 200,
    });
    expect(petsFunction.events).toHaveLength(1);
  });

  test('responds with a mock without asking the authorizer', async () => {
    const { api } = apiWith();
    const headers: [string, string][] = [['Content-Type', 'text/plain']];
    expect(await api.handle(get('/pets', { method: 'PUT', headers }))).toEqual({
      status: 405,
      headers: {
        'Content-Type': 'application/json',
        Allow: 'GET, POST',
        'x-amzn-RequestId': expect.any(String),
      },
      body: '{"status":405}',
    });
  });

  describe('does not start', () => {
    const functions = new Map([
      ['Function', lambdaStub(ok)],
      ['AuthorizerFunction', lambdaStub(ok)],
    ]);
    function startWithout(...names: string[]): void {
      const rest = Object.entries(resources).filter(([name]) => !names.includes(name));
      createApiGateway(templateOf(Object.fromEntries(rest)), functions);
    }

    test('without the permission to invoke the function of a route', () => {
      expect(() => startWithout('PetsGetPermission')).toThrow(
        /No AWS::Lambda::Permission .*function:Function for .*Api\/sample\/GET\/pets\./,
      );
    });

    test('without the permission to invoke the authorizer', () => {
      expect(() => startWithout('AuthorizerPermission')).toThrow(
        /No AWS::Lambda::Permission .*:AuthorizerFunction for .*Api\/authorizers\/Authorizer\./,
      );
    });

    test('without the authorizer of a route, which would be open to all', () => {
      const unguarded = guarded(resources['PetsGet']!);
      Object.assign(unguarded.Properties, { AuthorizerId: 'Nobody' });
      expect(() => createApiGateway(templateOf({ ...resources, PetsGet: unguarded }), functions)).toThrow(
        'GET /pets asks for an authorizer that the template does not define.',
      );
    });

    test('without a gateway response that it needs', () => {
      expect(() => startWithout('ACCESSDENIED')).toThrow('no gateway response of the type ACCESS_DENIED');
    });

    test('without a stage, or with two', () => {
      const stage = 'exactly one AWS::ApiGateway::Stage';
      expect(() =>
        createApiGateway(templateOf({ ...sampleGatewayResponses, Api: sampleApi['Api']! }), new Map()),
      ).toThrow(stage);
      expect(() =>
        createApiGateway(
          templateOf({ ...sampleGatewayResponses, ...sampleApi, Other: sampleApi['Stage']! }),
          new Map(),
        ),
      ).toThrow(stage);
    });
  });
});
