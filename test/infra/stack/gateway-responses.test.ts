import { describe, expect, test } from '@jest/globals';
import { gatewayResponses } from '../../../shared/contract/gateway-responses.ts';
import { propertiesOf, readableTemplate, stageNames } from '../../support/stack-template.ts';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html */
const types =
  'ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE BAD_REQUEST_BODY ' +
  'BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE INTEGRATION_TIMEOUT ' +
  'INVALID_API_KEY INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE ' +
  'RESOURCE_NOT_FOUND THROTTLED UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED';

describe.each(stageNames)('the gateway response in %s', (stage) => {
  const responses = propertiesOf(readableTemplate(stage), 'AWS::ApiGateway::GatewayResponse');

  test('exists for every response type, with the error code of the contract', () => {
    const codes = responses.map(({ ResponseType, ResponseTemplates }) => [
      ResponseType,
      JSON.parse(ResponseTemplates['application/json']).code,
    ]);
    expect(Object.fromEntries(codes)).toEqual(gatewayResponses);
    expect(Object.keys(gatewayResponses).toSorted()).toEqual(types.split(' '));
  });

  test('depends only on the status', () => {
    const contents = responses.map(({ StatusCode, ResponseTemplates, ResponseParameters }) =>
      JSON.stringify([StatusCode, ResponseTemplates, ResponseParameters]),
    );
    expect(new Set(contents).size).toBe(new Set(responses.map(({ StatusCode }) => StatusCode)).size);
  });
});
