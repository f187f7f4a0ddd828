import { describe, expect, test } from '@jest/globals';
import { challenge } from '../../../shared/contract/authorization.ts';
import { errorCatalogue } from '../../../shared/contract/errors.ts';
import { gatewayResponses } from '../../../shared/contract/gateway-responses.ts';
import { resourcesOf, stackTemplate, stageNames } from '../../support/stack-template.ts';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html */
const types =
  'ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE BAD_REQUEST_BODY ' +
  'BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE INTEGRATION_TIMEOUT ' +
  'INVALID_API_KEY INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE ' +
  'RESOURCE_NOT_FOUND THROTTLED UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED';

describe.each(stageNames)('what API Gateway answers by itself in %s', (stage) => {
  const responses = new Map(
    resourcesOf(stackTemplate(stage), 'AWS::ApiGateway::GatewayResponse').map(([, { Properties }]) => [
      Properties['ResponseType'] as string,
      Properties,
    ]),
  );

  test('is ours for every response type that there is', () => {
    expect([...responses.keys()].toSorted()).toEqual(types.split(' '));
  });

  describe.each(Object.entries(gatewayResponses))('%s', (type, { code }) => {
    const { StatusCode, ResponseTemplates, ResponseParameters } = responses.get(type) ?? {};
    const { status } = errorCatalogue[code];

    test(`is a ${status} ${code}`, () => {
      expect(StatusCode).toBe(`${status}`);
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
