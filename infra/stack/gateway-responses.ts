import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { challenge } from '../../shared/contract/authorization.ts';
import { errorBody, errorCatalogue, type ErrorCode } from '../../shared/contract/errors.ts';
import { gatewayResponses } from '../../shared/contract/gateway-responses.ts';

/** Sets the Error body of every response that API Gateway generates without invoking a function. */
export function addGatewayResponses(api: RestApi): void {
  for (const [type, code] of Object.entries(gatewayResponses)) {
    const body = errorBody(code, undefined, '$context.requestId');
    api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: body.status.toString(),
      responseHeaders: errorHeaders(code),
      templates: { 'application/json': JSON.stringify(body) },
    });
  }
}

/** Returns static header values in the single quotes that API Gateway's mappings require. */
function errorHeaders(code: ErrorCode): Record<string, string> {
  const { retryAfterSeconds: retryAfter } = errorCatalogue[code];
  return {
    'Cache-Control': "'no-store'",
    ...(code === 'unauthorized' && { 'WWW-Authenticate': `'${challenge}'` }),
    ...(retryAfter !== undefined && { 'Retry-After': `'${retryAfter}'` }),
  };
}
