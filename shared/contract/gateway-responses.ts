import type { ErrorCode } from './errors.ts';
import { type Operation, operations } from './operations.ts';

interface GatewayResponse {
  code: ErrorCode;
  /** Requests that may get it: those of operations, all others, or any. */
  requests: 'operations' | 'others' | 'any';
}

/**
 * Responses of API Gateway itself by response type. Each type has the one status of its code.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
export const gatewayResponses: Record<string, GatewayResponse> = {
  ACCESS_DENIED: { code: 'unauthorized', requests: 'operations' },
  API_CONFIGURATION_ERROR: { code: 'internal_error', requests: 'any' },
  AUTHORIZER_CONFIGURATION_ERROR: { code: 'service_unavailable', requests: 'operations' },
  AUTHORIZER_FAILURE: { code: 'service_unavailable', requests: 'operations' },
  BAD_REQUEST_BODY: { code: 'invalid_request', requests: 'any' },
  BAD_REQUEST_PARAMETERS: { code: 'invalid_request', requests: 'any' },
  DEFAULT_4XX: { code: 'invalid_request', requests: 'any' },
  DEFAULT_5XX: { code: 'internal_error', requests: 'any' },
  EXPIRED_TOKEN: { code: 'unauthorized', requests: 'operations' },
  INTEGRATION_FAILURE: { code: 'service_unavailable', requests: 'operations' },
  INTEGRATION_TIMEOUT: { code: 'gateway_timeout', requests: 'operations' },
  INVALID_API_KEY: { code: 'unauthorized', requests: 'operations' },
  INVALID_SIGNATURE: { code: 'unauthorized', requests: 'operations' },
  // API Gateway's name for an address and method that no route takes.
  MISSING_AUTHENTICATION_TOKEN: { code: 'not_found', requests: 'others' },
  QUOTA_EXCEEDED: { code: 'too_many_requests', requests: 'any' },
  REQUEST_TOO_LARGE: { code: 'request_too_large', requests: 'any' },
  RESOURCE_NOT_FOUND: { code: 'not_found', requests: 'others' },
  THROTTLED: { code: 'too_many_requests', requests: 'any' },
  UNAUTHORIZED: { code: 'unauthorized', requests: 'operations' },
  // Operations get it for a Content-Encoding that API Gateway does not support:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-make-request-with-compressed-payload.html
  UNSUPPORTED_MEDIA_TYPE: { code: 'unsupported_media_type', requests: 'any' },
  WAF_FILTERED: { code: 'forbidden', requests: 'any' },
};

/** Codes of the responses that API Gateway itself may give to requests of operations, or to all others. */
export function gatewayErrorCodes(requests: 'operations' | 'others'): ErrorCode[] {
  const given = Object.values(gatewayResponses).filter(
    (response) => response.requests === requests || response.requests === 'any',
  );
  return [...new Set(given.map(({ code }) => code))];
}

/** The methods of each resource path, to which API Gateway answers 405 for any other. */
export function methodsByPath(): Map<string, string[]> {
  const groups = Map.groupBy(Object.values<Operation>(operations), ({ path }) => path);
  return new Map(Array.from(groups, ([path, group]) => [path, group.map(({ method }) => method)]));
}

export function allowedMethodsMessage(methods: readonly string[]): string {
  return `This URL supports ${methods.join(' and ')}.`;
}
