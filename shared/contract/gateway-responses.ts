import type { ErrorCode } from './errors.ts';
import { type Operation, operations } from './operations.ts';

/**
 * Responses of API Gateway itself by response type. Each type has the one status of its code.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
export const gatewayResponses: Record<string, ErrorCode> = {
  ACCESS_DENIED: 'unauthorized',
  API_CONFIGURATION_ERROR: 'internal_error',
  AUTHORIZER_CONFIGURATION_ERROR: 'service_unavailable',
  AUTHORIZER_FAILURE: 'service_unavailable',
  BAD_REQUEST_BODY: 'invalid_request',
  BAD_REQUEST_PARAMETERS: 'invalid_request',
  DEFAULT_4XX: 'invalid_request',
  DEFAULT_5XX: 'internal_error',
  EXPIRED_TOKEN: 'unauthorized',
  INTEGRATION_FAILURE: 'service_unavailable',
  INTEGRATION_TIMEOUT: 'gateway_timeout',
  INVALID_API_KEY: 'unauthorized',
  INVALID_SIGNATURE: 'unauthorized',
  // API Gateway's name for an address and method that no route takes.
  MISSING_AUTHENTICATION_TOKEN: 'not_found',
  QUOTA_EXCEEDED: 'too_many_requests',
  REQUEST_TOO_LARGE: 'request_too_large',
  RESOURCE_NOT_FOUND: 'not_found',
  THROTTLED: 'too_many_requests',
  UNAUTHORIZED: 'unauthorized',
  // Operations get it for a Content-Encoding that API Gateway does not support:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-make-request-with-compressed-payload.html
  UNSUPPORTED_MEDIA_TYPE: 'unsupported_media_type',
  WAF_FILTERED: 'forbidden',
};

/** Only a request that matches an operation reaches the authorizer and the integration. */
const OPERATION_CODES: ErrorCode[] = ['unauthorized', 'service_unavailable', 'gateway_timeout'];

/** Codes of the responses that API Gateway itself may give to requests of operations, or to all others. */
export function gatewayErrorCodes(requests: 'operations' | 'others'): ErrorCode[] {
  const excluded = requests === 'operations' ? ['not_found'] : OPERATION_CODES;
  return [...new Set(Object.values(gatewayResponses))].filter((code) => !excluded.includes(code));
}

/** The methods of each resource path, to which API Gateway answers 405 for any other. */
export function methodsByPath(): Map<string, string[]> {
  const groups = Map.groupBy(Object.values<Operation>(operations), ({ path }) => path);
  return new Map(Array.from(groups, ([path, group]) => [path, group.map(({ method }) => method)]));
}

export function allowedMethodsMessage(methods: readonly string[]): string {
  return `This URL supports ${methods.join(' and ')}.`;
}
