import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { challenge } from '../../shared/contract/authorization.ts';
import { errorBody, type ErrorCode, retryAfterSeconds } from '../../shared/contract/errors.ts';

const unauthorized = [
  'unauthorized',
  'A valid API key is required: Authorization: Bearer <API_KEY>.',
] as const;
const tooMany = ['too_many_requests', 'Too many requests; please slow down.'] as const;
const notFound = ['not_found', 'There is nothing at this address.'] as const;
const invalid = ['invalid_request', 'The request is not valid HTTP as this service understands it.'] as const;
const internal = [
  'internal_error',
  'Something went wrong on our side. Request id: $context.requestId',
] as const;
const unavailable = [
  'service_unavailable',
  'The service cannot answer right now. Request id: $context.requestId',
] as const;

/**
 * What API Gateway says by itself, for each of its response types: code and message of the Error body. The
 * status is the code's, pinned on every type, as a body template has no way to name the actual one.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const gatewayRefusals: Record<string, readonly [ErrorCode, string]> = {
  ACCESS_DENIED: unauthorized,
  API_CONFIGURATION_ERROR: internal,
  AUTHORIZER_CONFIGURATION_ERROR: unavailable,
  AUTHORIZER_FAILURE: unavailable,
  BAD_REQUEST_BODY: invalid,
  BAD_REQUEST_PARAMETERS: invalid,
  DEFAULT_4XX: invalid,
  DEFAULT_5XX: internal,
  EXPIRED_TOKEN: unauthorized,
  INTEGRATION_FAILURE: unavailable,
  INTEGRATION_TIMEOUT: [
    'gateway_timeout',
    'The service did not answer in time. Request id: $context.requestId',
  ],
  INVALID_API_KEY: unauthorized,
  INVALID_SIGNATURE: unauthorized,
  // API Gateway's name for an address and method that no route takes.
  MISSING_AUTHENTICATION_TOKEN: notFound,
  QUOTA_EXCEEDED: tooMany,
  REQUEST_TOO_LARGE: ['request_too_large', 'The request is too large.'],
  RESOURCE_NOT_FOUND: notFound,
  THROTTLED: tooMany,
  UNAUTHORIZED: unauthorized,
  UNSUPPORTED_MEDIA_TYPE: ['unsupported_media_type', 'The body must be sent as application/json.'],
  WAF_FILTERED: ['forbidden', 'The request was refused.'],
};

/** Gives the Error body to every answer that API Gateway writes without asking a function. */
export function addGatewayResponses(api: RestApi): void {
  for (const [type, [code, message]] of Object.entries(gatewayRefusals)) {
    const body = errorBody(code, message);
    api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: body.status.toString(),
      responseHeaders: refusalHeaders(code),
      templates: { 'application/json': JSON.stringify(body) },
    });
  }
}

/** Static header values, in the single quotes that API Gateway's mappings ask for. */
function refusalHeaders(code: ErrorCode): Record<string, string> {
  const retryAfter = retryAfterSeconds[code];
  return {
    'Cache-Control': "'no-store'",
    ...(code === 'unauthorized' && { 'WWW-Authenticate': `'${challenge}'` }),
    ...(retryAfter !== undefined && { 'Retry-After': `'${retryAfter}'` }),
  };
}
