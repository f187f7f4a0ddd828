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
  MISSINGAUTHENTICATIONTOKEN: gatewayResponse('MISSING_AUTHENTICATION_TOKEN', '404', {
    'Cache-Control': 'no-store',
  }),
  UNAUTHORIZED: gatewayResponse('UNAUTHORIZED', '401', { 'WWW-Authenticate': 'Bearer realm="sample"' }),
  DEFAULT5XX: gatewayResponse('DEFAULT_5XX', '500', { 'Retry-After': '5' }),
};

const ok = resultOf({ statusCode: 200, headers: { Link: '</>' }, body: '[]' });

interface Sample {
  api: ApiGateway;
  petsFunction: LambdaStub;
  accessLog: string[];
}

function apiWith(outcome: Invocation = ok, policy: unknown = policyOf('Allow'), format?: string): Sample {
  const petsFunction = lambdaStub(outcome);
  const functions = new Map([
    ['Function', petsFunction],
    ['AuthorizerFunction', lambdaStub(resultOf(policy))],
  ]);
  const accessLog: string[] = [];
  const { Type, Properties } = resources['Stage']!;
  const Stage = {
    Type,
    Properties: { ...Properties, ...(format && { AccessLogSetting: { Format: format } }) },
  };
  const api = createApiGateway(templateOf({ ...resources, Stage }), functions, (line) =>
    accessLog.push(line),
  );
  return { api, petsFunction, accessLog };
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
  test('answers with what the function gives, and the request id', async () => {
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

  test('gives each request an id of its own', async () => {
    const { api } = apiWith();
    const [one, other] = [await api.handle(get('/pets')), await api.handle(get('/pets'))];
    expect(one.headers['x-amzn-RequestId']).not.toBe(other.headers['x-amzn-RequestId']);
  });

  describe('gives the gateway response of the type', () => {
    const tooLarge = Buffer.alloc(6_291_456, 'a');
    test.each([
      ['MISSING_AUTHENTICATION_TOKEN', 404, 'where there is no route', apiWith(), get('/other')],
      ['UNAUTHORIZED', 401, 'without a key', apiWith(), get('/pets', { headers: [] })],
      [
        'UNAUTHORIZED',
        401,
        'with two keys',
        apiWith(),
        get('/pets', {
          headers: [
            ['Authorization', 'Bearer abc'],
            ['Authorization', 'Bearer abc'],
          ],
        }),
      ],
      ['ACCESS_DENIED', 401, 'when denied', apiWith(ok, policyOf('Deny')), get('/pets')],
      ['AUTHORIZER_CONFIGURATION_ERROR', 503, 'when not decided', apiWith(ok, null), get('/pets')],
      ['REQUEST_TOO_LARGE', 413, 'for an event over 6 MB', apiWith(), get('/pets', { body: tooLarge })],
      [
        'UNSUPPORTED_MEDIA_TYPE',
        415,
        'for a mock that does not know the media type',
        apiWith(),
        get('/pets', { method: 'PUT', headers: [['Content-Type', 'image/png']] }),
      ],
      ['DEFAULT_5XX', 500, 'after an error of the function', apiWith({ error: 'no luck' }), get('/pets')],
      ['DEFAULT_5XX', 500, 'for a result of null', apiWith(resultOf(null)), get('/pets')],
      ['DEFAULT_5XX', 500, 'for an empty result', apiWith(resultOf({})), get('/pets')],
      [
        'DEFAULT_5XX',
        500,
        'for an unknown member of the result',
        apiWith(resultOf({ statusCode: 200, status: 200 })),
        get('/pets'),
      ],
      [
        'DEFAULT_5XX',
        500,
        'for a body that is no text',
        apiWith(resultOf({ statusCode: 200, body: [] })),
        get('/pets'),
      ],
      [
        'DEFAULT_5XX',
        500,
        'for a header that is an object',
        apiWith(resultOf({ statusCode: 200, headers: { A: {} } })),
        get('/pets'),
      ],
    ])('%s (%i) %s', async (type, status, _condition, { api }, request) => {
      const response = await api.handle(request);
      const requestId = response.headers['x-amzn-RequestId'];
      expect(requestId).toMatch(/^[\da-f-]{36}$/);
      expect(response).toMatchObject({ status, headers: { 'Content-Type': 'application/json' } });
      expect(response.body).toBe(
        `{"code":"${type.toLowerCase()}","message":"See ${requestId}","status":${status}}`,
      );
    });

    test('with the headers of that type', async () => {
      const { api } = apiWith();
      expect((await api.handle(get('/other'))).headers).toMatchObject({ 'Cache-Control': 'no-store' });
      expect((await api.handle(get('/pets', { headers: [] }))).headers).toMatchObject({
        'WWW-Authenticate': 'Bearer realm="sample"',
      });
      expect(api.refuse('DEFAULT_5XX').headers).toMatchObject({ 'Retry-After': '5' });
    });
  });

  test('asks neither function nor authorizer where it refuses by itself', async () => {
    const { api, petsFunction } = apiWith();
    await api.handle(get('/pets', { headers: [] }));
    await api.handle(get('/pets', { body: Buffer.alloc(6_291_456) }));
    expect(petsFunction.events).toEqual([]);
  });

  test('takes an event just below 6 MB', async () => {
    const { api, petsFunction } = apiWith();
    expect(await api.handle(get('/pets', { body: Buffer.alloc(6_280_000, 'a') }))).toMatchObject({
      status: 200,
    });
    expect(petsFunction.events).toHaveLength(1);
  });

  test('answers a mock without authorizer, by media type', async () => {
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

  describe('notes in the access log', () => {
    const format = JSON.stringify({
      requestId: '$context.requestId',
      extendedRequestId: '$context.extendedRequestId',
      time: '$context.requestTime',
      sourceIp: '$context.identity.sourceIp',
      method: '$context.httpMethod',
      resource: '$context.resourcePath',
      status: '$context.status',
      errorType: '$context.error.responseType',
      keyId: '$context.authorizer.keyId',
      authorizerLatency: '$context.authorizer.latency',
      integrationLatency: '$context.integration.latency',
      latency: '$context.responseLatency',
      length: '$context.responseLength',
      functionRequestId: '$context.awsEndpointRequestId',
    });
    const milliseconds = expect.stringMatching(/^\d+$/);
    const none = '-';
    const reached = {
      authorizerLatency: milliseconds,
      integrationLatency: milliseconds,
      functionRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
      keyId: 'key_1',
    };
    const allowed = {
      authorizerLatency: milliseconds,
      integrationLatency: none,
      functionRequestId: none,
      keyId: 'key_1',
    };
    const stopped = {
      authorizerLatency: milliseconds,
      integrationLatency: none,
      functionRequestId: none,
      keyId: none,
    };
    const unasked = {
      authorizerLatency: none,
      integrationLatency: none,
      functionRequestId: none,
      keyId: none,
    };
    const tooLarge = Buffer.alloc(6_291_456, 'a');
    const put = get('/pets', { method: 'PUT' });
    const noKeyId = { ...policyOf('Allow'), context: {} };

    test.each<[string, object, object, Invocation, unknown, HttpRequest]>([
      [
        'an answer of the function',
        { status: '200', errorType: none },
        reached,
        ok,
        policyOf('Allow'),
        get('/pets'),
      ],
      [
        'a refusal of the function',
        { status: '404', errorType: none },
        reached,
        resultOf({ statusCode: 404, body: '{}' }),
        policyOf('Allow'),
        get('/pets'),
      ],
      [
        'an answer for a key without id',
        { status: '200', errorType: none },
        { ...reached, keyId: none },
        ok,
        noKeyId,
        get('/pets'),
      ],
      ['a mock', { status: '405', errorType: none, method: 'PUT' }, unasked, ok, policyOf('Allow'), put],
      [
        'a mock that does not know the media type',
        { status: '415', errorType: 'UNSUPPORTED_MEDIA_TYPE', method: 'PUT' },
        unasked,
        ok,
        policyOf('Allow'),
        { ...put, headers: [['Content-Type', 'image/png']] },
      ],
      [
        'an address without a route',
        { status: '404', errorType: 'MISSING_AUTHENTICATION_TOKEN', resource: none },
        unasked,
        ok,
        policyOf('Allow'),
        get('/other'),
      ],
      [
        'a request without a key',
        { status: '401', errorType: 'UNAUTHORIZED' },
        stopped,
        ok,
        policyOf('Allow'),
        get('/pets', { headers: [] }),
      ],
      [
        'a request that is denied',
        { status: '401', errorType: 'ACCESS_DENIED' },
        stopped,
        ok,
        policyOf('Deny'),
        get('/pets'),
      ],
      [
        'a request that is not decided',
        { status: '503', errorType: 'AUTHORIZER_CONFIGURATION_ERROR' },
        stopped,
        ok,
        null,
        get('/pets'),
      ],
      [
        'an event over 6 MB',
        { status: '413', errorType: 'REQUEST_TOO_LARGE' },
        allowed,
        ok,
        policyOf('Allow'),
        get('/pets', { body: tooLarge }),
      ],
      [
        'an error of the function',
        { status: '500', errorType: 'DEFAULT_5XX' },
        reached,
        { error: 'no luck' },
        policyOf('Allow'),
        get('/pets'),
      ],
      [
        'a result that is malformed',
        { status: '500', errorType: 'DEFAULT_5XX' },
        reached,
        resultOf({}),
        policyOf('Allow'),
        get('/pets'),
      ],
    ])('%s', async (_what, ending, way, outcome, policy, request) => {
      const { api, accessLog } = apiWith(outcome, policy, format);
      const { headers, body } = await api.handle({ ...request, query: 'key=secret' });
      expect(accessLog).toHaveLength(1);
      expect(JSON.parse(accessLog[0]!)).toEqual({
        requestId: headers['x-amzn-RequestId'],
        extendedRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
        time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        sourceIp: '127.0.0.1',
        method: 'GET',
        resource: '/pets',
        latency: milliseconds,
        length: body.length.toString(),
        ...way,
        ...ending,
      });
    });

    test('the resource and not the path, which the client chose', async () => {
      const { api, accessLog } = apiWith(ok, policyOf('Allow'), '$context.resourcePath');
      await api.handle(get('/%70ets'));
      await api.handle(get('/pets/'));
      expect(accessLog).toEqual(['-', '/pets']);
    });

    test('each request for itself, also when the decision was kept', async () => {
      const { api, accessLog } = apiWith(ok, policyOf('Allow'), '$context.authorizer.keyId $context.status');
      await api.handle(get('/pets'));
      await api.handle(get('/pets'));
      await api.handle(get('/pets', { headers: [] }));
      await Promise.all([api.handle(get('/pets')), api.handle(get('/other'))]);
      expect(accessLog.slice(0, 3)).toEqual(['key_1 200', 'key_1 200', '- 401']);
      expect(accessLog.slice(3).toSorted()).toEqual(['- 404', 'key_1 200']);
    });

    test('the bytes of an answer, not its characters', async () => {
      const answer = resultOf({ statusCode: 200, body: '"é€"' });
      const { api, accessLog } = apiWith(answer, policyOf('Allow'), '$context.responseLength');
      await api.handle(get('/pets'));
      expect(accessLog).toEqual(['7']);
    });

    test('nothing where the template has none', async () => {
      const { api, accessLog } = apiWith();
      expect(await api.handle(get('/pets'))).toMatchObject({ status: 200 });
      expect(accessLog).toEqual([]);
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

    test('without the authorizer that a route asks for, which nobody would guard', () => {
      const unguarded = guarded(resources['PetsGet']!);
      Object.assign(unguarded.Properties, { AuthorizerId: 'Nobody' });
      expect(() => createApiGateway(templateOf({ ...resources, PetsGet: unguarded }), functions)).toThrow(
        'GET /pets asks for an authorizer that the template does not define.',
      );
    });

    test('without a gateway response that it would have to give', () => {
      expect(() => startWithout('ACCESSDENIED')).toThrow('no gateway response of the type ACCESS_DENIED');
    });

    test('with a variable in the format of its access log that is not modelled', () => {
      expect(() => apiWith(ok, null, '$context.identity.userAgent')).toThrow(
        'The access log has the variable $context.identity.userAgent, which is not modelled.',
      );
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
