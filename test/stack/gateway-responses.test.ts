import { describe, expect, test } from '@jest/globals';
import { propertiesOf, readableTemplate } from '../support/stack-template.ts';

/**
 * All response types of API Gateway, by the status that clients get.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const typesByStatus = {
  400: ['BAD_REQUEST_BODY', 'BAD_REQUEST_PARAMETERS', 'DEFAULT_4XX'],
  401: ['ACCESS_DENIED', 'EXPIRED_TOKEN', 'INVALID_API_KEY', 'INVALID_SIGNATURE', 'UNAUTHORIZED'],
  403: ['WAF_FILTERED'],
  404: ['MISSING_AUTHENTICATION_TOKEN', 'RESOURCE_NOT_FOUND'],
  413: ['REQUEST_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE'],
  429: ['QUOTA_EXCEEDED', 'THROTTLED'],
  500: ['API_CONFIGURATION_ERROR', 'DEFAULT_5XX'],
  503: ['AUTHORIZER_CONFIGURATION_ERROR', 'AUTHORIZER_FAILURE', 'INTEGRATION_FAILURE'],
  504: ['INTEGRATION_TIMEOUT'],
};

describe('the gateway responses', () => {
  const template = readableTemplate('production');
  const responses = propertiesOf(template, 'AWS::ApiGateway::GatewayResponse');

  test('cover every response type, with the status that clients get', () => {
    const found = responses.map(({ StatusCode, ResponseType }) => `${StatusCode} ${ResponseType}`);
    const expected = Object.entries(typesByStatus).flatMap(([status, types]) =>
      types.map((type) => `${status} ${type}`),
    );
    expect(new Set(found)).toEqual(new Set(expected));
  });

  test('have an Error body that repeats the status, and contains the request id if the status is a 5xx', () => {
    for (const { StatusCode, ResponseTemplates } of responses) {
      const text = ResponseTemplates['application/json'];
      const message = expect.stringMatching(StatusCode < 500 ? /\.$/ : / Request id: \$context\.requestId$/);
      const body = { code: expect.stringMatching(/^[a-z_]+$/), message, status: Number(StatusCode) };
      expect(JSON.parse(text)).toEqual(body);
      // The Content-Type has no charset, so clients may not read a body that is not ASCII.
      expect(text).toMatch(/^[ -~]+$/);
    }
  });

  test('have the headers of every response of the service, as the 404s and 405s of mocks have', () => {
    const ofMocks = propertiesOf(template, 'AWS::ApiGateway::Method')
      .filter(({ Integration }) => Integration.Type === 'MOCK')
      .flatMap(({ Integration }) => Integration.IntegrationResponses);
    expect(ofMocks.length).toBeGreaterThan(0);
    for (const { ResponseParameters } of [...responses, ...ofMocks]) {
      const headers = Object.entries(ResponseParameters).map(([name, value]) => [
        name.split('.').at(-1),
        value,
      ]);
      expect(Object.fromEntries(headers)).toMatchObject({
        'Cache-Control': "'no-store'",
        'Strict-Transport-Security': "'max-age=31536000'",
        'X-Content-Type-Options': "'nosniff'",
      });
    }
  });
});
