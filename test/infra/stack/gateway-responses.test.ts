import { describe, expect, test } from '@jest/globals';
import { challenge } from '../../../shared/contract/authorization.ts';
import { errorCatalogue, type ErrorCode } from '../../../shared/contract/errors.ts';
import { resourcesOf, stackTemplate, stageNames } from '../../support/stack-template.ts';

/**
 * Every type there is, and what clients are told.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const refusals: [type: string, status: number, code: ErrorCode][] = [
  // Denied by the authorizer: API Gateway would say 403.
  ['ACCESS_DENIED', 401, 'unauthorized'],
  ['API_CONFIGURATION_ERROR', 500, 'internal_error'],
  // The authorizer threw, as it does when it cannot read the table of keys.
  ['AUTHORIZER_CONFIGURATION_ERROR', 503, 'service_unavailable'],
  ['AUTHORIZER_FAILURE', 503, 'service_unavailable'],
  ['BAD_REQUEST_BODY', 400, 'invalid_request'],
  ['BAD_REQUEST_PARAMETERS', 400, 'invalid_request'],
  ['DEFAULT_4XX', 400, 'invalid_request'],
  ['DEFAULT_5XX', 500, 'internal_error'],
  ['EXPIRED_TOKEN', 401, 'unauthorized'],
  ['INTEGRATION_FAILURE', 503, 'service_unavailable'],
  ['INTEGRATION_TIMEOUT', 504, 'gateway_timeout'],
  ['INVALID_API_KEY', 401, 'unauthorized'],
  ['INVALID_SIGNATURE', 401, 'unauthorized'],
  // No route: API Gateway would say 403.
  ['MISSING_AUTHENTICATION_TOKEN', 404, 'not_found'],
  ['QUOTA_EXCEEDED', 429, 'too_many_requests'],
  ['REQUEST_TOO_LARGE', 413, 'request_too_large'],
  ['RESOURCE_NOT_FOUND', 404, 'not_found'],
  ['THROTTLED', 429, 'too_many_requests'],
  ['UNAUTHORIZED', 401, 'unauthorized'],
  ['UNSUPPORTED_MEDIA_TYPE', 415, 'unsupported_media_type'],
  ['WAF_FILTERED', 403, 'forbidden'],
];

describe.each(stageNames)('what API Gateway answers by itself in %s', (stage) => {
  const responses = new Map(
    resourcesOf(stackTemplate(stage), 'AWS::ApiGateway::GatewayResponse').map(([, { Properties }]) => [
      Properties['ResponseType'] as string,
      Properties,
    ]),
  );

  test('is ours for every response type that there is', () => {
    expect([...responses.keys()].toSorted()).toEqual(refusals.map(([type]) => type));
  });

  describe.each(refusals)('%s', (type, status, code) => {
    const { StatusCode, ResponseTemplates, ResponseParameters } = responses.get(type) ?? {};

    test(`is a ${status} ${code}`, () => {
      expect(StatusCode).toBe(`${status}`);
      expect(errorCatalogue[code]).toBe(status);
    });

    test('has the Error body, which repeats the status', () => {
      expect(Object.keys(ResponseTemplates)).toEqual(['application/json']);
      const body = JSON.parse(ResponseTemplates['application/json']);
      expect(Object.keys(body)).toEqual(['code', 'message', 'status']);
      expect(body).toEqual({ code, message: expect.stringMatching(/\w/), status });
    });

    // Any other variable could hold quotes, and with them break the JSON or show what is ours alone.
    test(`names ${status < 500 ? 'no variable' : 'the request id and no other variable'}`, () => {
      const variables = ResponseTemplates['application/json'].match(/\$(\w+(\.\w+)*)?/g) ?? [];
      expect(variables).toEqual(status < 500 ? [] : ['$context.requestId']);
    });

    test('carries the headers that belong to its status', () => {
      expect(ResponseParameters).toEqual({
        'gatewayresponse.header.Cache-Control': "'no-store'",
        ...(status === 401 && { 'gatewayresponse.header.WWW-Authenticate': `'${challenge}'` }),
        ...([429, 503].includes(status) && {
          'gatewayresponse.header.Retry-After': "'1'",
        }),
      });
    });
  });

  test('is one and the same for every reason not to accept a key', () => {
    const bodies = [...responses.values()]
      .filter(({ StatusCode }) => StatusCode === '401')
      .map(({ ResponseTemplates }) => ResponseTemplates['application/json']);
    expect(bodies.every((body) => body === bodies[0])).toBe(true);
  });
});

test('the challenge is the one of bearer authentication', () => {
  expect(challenge).toBe('Bearer realm="petstore"');
});
