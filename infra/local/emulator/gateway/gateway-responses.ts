import { randomUUID } from 'node:crypto';
import type { HttpResponse } from './http-message.ts';
import { staticResponse } from './integrations.ts';
import type { Template } from '../template/template.ts';

/**
 * Status and message of each gateway response unless the template defines the response.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const defaultResponses: Record<string, [status: number, message: string]> = {
  ACCESS_DENIED: [403, 'User is not authorized to access this resource'],
  AUTHORIZER_CONFIGURATION_ERROR: [500, 'Internal server error'],
  DEFAULT_5XX: [502, 'Internal server error'],
  MISSING_AUTHENTICATION_TOKEN: [403, 'Missing Authentication Token'],
  REQUEST_TOO_LARGE: [413, 'Request Too Large'],
  UNAUTHORIZED: [401, 'Unauthorized'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Unsupported Media Type'],
};

/** Returns a function that returns the gateway response of a type. */
export function readGatewayResponses(template: Template) {
  const defined = new Map(
    template
      .resources('AWS::ApiGateway::GatewayResponse')
      .map(({ properties }) => [properties.ResponseType, staticResponse(properties)]),
  );
  return (responseType: string, requestId: string = randomUUID()): HttpResponse => {
    const [status, message] = defaultResponses[responseType] ?? [400, 'Bad Request'];
    const fallback = {
      status,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message }),
    };
    const { body, ...response } =
      defined.get(responseType) ?? defined.get(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX') ?? fallback;
    return withRequestId({ ...response, body: body.replaceAll('$context.requestId', requestId) }, requestId);
  };
}

export function withRequestId(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: { ...response.headers, 'x-amzn-RequestId': requestId } };
}
