import type { ErrorCode } from './errors.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import { compactName } from '../names.ts';

/** Value of `WWW-Authenticate` in a 401 (RFC 6750, RFC 9110 section 11.6.1). */
export const challenge = `Bearer realm="${compactName}"`;

/**
 * Error codes of the responses that API Gateway generates, by response type.
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
  // API Gateway returns this type if no route matches the URL and method.
  MISSING_AUTHENTICATION_TOKEN: 'not_found',
  QUOTA_EXCEEDED: 'too_many_requests',
  REQUEST_TOO_LARGE: 'request_too_large',
  RESOURCE_NOT_FOUND: 'not_found',
  THROTTLED: 'too_many_requests',
  UNAUTHORIZED: 'unauthorized',
  // API Gateway returns this type for a Content-Encoding that it does not support.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-make-request-with-compressed-payload.html
  UNSUPPORTED_MEDIA_TYPE: 'unsupported_media_type',
  WAF_FILTERED: 'forbidden',
};

const codes = new Set(Object.values(gatewayResponses));
/**
 * Error codes that API Gateway can return for requests that match an operation. API Gateway returns `not_found` only if
 * no route matches.
 */
export const operationCodes = codes.difference(new Set(['not_found']));

/**
 * Returns the methods of the operations by path. Requests with other methods of these paths get a 405, or a 415 if
 * their `Content-Type` is uncommon.
 */
export function methodsByPath(): Map<string, string[]> {
  const groups = Map.groupBy(Object.values<Operation>(operations), ({ path }) => path);
  return new Map(Array.from(groups, ([path, group]) => [path, group.map(({ method }) => method)]));
}

/** Returns the message of a 405. */
export function allowedMethodsMessage(methods: readonly string[]): string {
  return `This URL supports ${new Intl.ListFormat('en').format(methods)}.`;
}
