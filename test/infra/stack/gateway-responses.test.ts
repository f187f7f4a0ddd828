import { describe, expect, test } from '@jest/globals';
import { challenge } from '../../../shared/contract/authorization.ts';
import { errorCatalogue } from '../../../shared/contract/errors.ts';
import { gatewayResponses } from '../../../shared/contract/gateway-responses.ts';
import { propertiesOf, readableTemplate, stageNames } from '../../support/stack-template.ts';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html */
const types =
  'ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE BAD_REQUEST_BODY ' +
  'BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE INTEGRATION_TIMEOUT ' +
  'INVALID_API_KEY INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE ' +
  'RESOURCE_NOT_FOUND THROTTLED UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED';

describe.each(stageNames)('what API Gateway responds by itself in %s', (stage) => {
  const responses = new Map<string, any>(
    propertiesOf(readableTemplate(stage), 'AWS::ApiGateway::GatewayResponse').map((properties) => [
      properties.ResponseType,
      properties,
    ]),
  );

  test('is ours for every response type', () => {
    expect([...responses.keys()].toSorted()).toEqual(types.split(' '));
  });

  test.each(Object.entries(gatewayResponses))(
    'has the Error body and headers of its code: %s',
    (type, { code }) => {
      const { StatusCode, ResponseTemplates, ResponseParameters } = responses.get(type);
      const { status } = errorCatalogue[code];
      expect(StatusCode).toBe(`${status}`);
      const { 'application/json': text, ...otherTemplates } = ResponseTemplates;
      expect(otherTemplates).toEqual({});
      expect(JSON.parse(text)).toEqual({ code, message: expect.stringMatching(/\w/), status });
      // Any other variable could hold quotes, which would break the JSON, or expose internals.
      expect(text.match(/\$(\w+(\.\w+)*)?/g) ?? []).toEqual(status < 500 ? [] : ['$context.requestId']);
      expect(ResponseParameters).toEqual({
        'gatewayresponse.header.Cache-Control': "'no-store'",
        ...(status === 401 && { 'gatewayresponse.header.WWW-Authenticate': `'${challenge}'` }),
        ...([429, 503].includes(status) && { 'gatewayresponse.header.Retry-After': "'1'" }),
      });
    },
  );

  test('is the same for every reason not to accept a key', () => {
    const bodies = [...responses.values()]
      .filter(({ StatusCode }) => StatusCode === '401')
      .map(({ ResponseTemplates }) => ResponseTemplates['application/json']);
    expect(new Set(bodies).size).toBe(1);
  });
});

test('the challenge is the one of bearer authentication', () => {
  expect(challenge).toBe('Bearer realm="petstore"');
});
