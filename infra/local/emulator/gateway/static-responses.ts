import { randomUUID } from 'node:crypto';
import { EmulatorError } from '../emulator-error.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { Method } from './routes.ts';
import type { Resource, Template } from '../template/template.ts';

type MockIntegration = Extract<Method['Integration'], { Type: 'MOCK' }>;
type GatewayResponse = Resource<'AWS::ApiGateway::GatewayResponse'>['properties'];

/**
 * Types of the gateway responses that the emulator sends.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const GATEWAY_RESPONSE_TYPES = [
  'ACCESS_DENIED',
  'AUTHORIZER_CONFIGURATION_ERROR',
  'DEFAULT_5XX',
  'MISSING_AUTHENTICATION_TOKEN',
  'REQUEST_TOO_LARGE',
  'UNAUTHORIZED',
  'UNSUPPORTED_MEDIA_TYPE',
] as const;

export type GatewayResponseType = (typeof GATEWAY_RESPONSE_TYPES)[number];

/**
 * Returns a function that creates the gateway response of a type that the template defines.
 *
 * @throws EmulatorError if the template does not define a gateway response that the emulator sends.
 */
export function readGatewayResponses(template: Template) {
  const defined = template.resources('AWS::ApiGateway::GatewayResponse').map(({ properties }) => properties);
  function find(type: string): GatewayResponse {
    const response = defined.find(({ ResponseType }) => ResponseType === type);
    if (!response)
      throw new EmulatorError(`The stack does not define the gateway response ${type}. Add it to the stack.`);
    return response;
  }
  for (const type of GATEWAY_RESPONSE_TYPES) find(type);

  return (type: string, requestId: string = randomUUID()): HttpResponse => {
    const { body, ...response } = staticResponse(find(type));
    return withRequestId({ ...response, body: body.replaceAll('$context.requestId', requestId) }, requestId);
  };
}

/** Returns the mock's response, or undefined if the mock does not accept the request's media type. */
export function mockResponse(mock: MockIntegration, request: HttpRequest): HttpResponse | undefined {
  const contentType = headerValues(request, 'Content-Type').at(-1) ?? '';
  const mediaType = contentType.split(';')[0]!.trim().toLowerCase() || 'application/json';
  const isAccepted = Object.hasOwn(mock.RequestTemplates, mediaType);
  return isAccepted ? staticResponse(mock.IntegrationResponses[0]) : undefined;
}

/** Returns the response with the header that contains the request's id on AWS. */
export function withRequestId(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: { ...response.headers, 'x-amzn-RequestId': requestId } };
}

function staticResponse(
  response: MockIntegration['IntegrationResponses'][0] | GatewayResponse,
): HttpResponse {
  const headers = Object.entries(response.ResponseParameters).map(([parameter, value]) => {
    const name = parameter.split('.').at(-1)!; // such as Allow in method.response.header.Allow
    const unquoted = value.slice(1, -1);
    return [name, unquoted] as const;
  });
  return {
    status: Number(response.StatusCode),
    headers: { 'Content-Type': 'application/json', ...Object.fromEntries(headers) },
    body: response.ResponseTemplates['application/json'],
  };
}
