import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { challenge, allowedMethodsMessage, gatewayResponses } from '../../shared/contract/gateway-errors.ts';
import { errorBody, errorCatalog } from '../../shared/contract/errors.ts';
import { commonHeaders } from '../../shared/contract/operation.ts';

/** Media types that mocks accept. API Gateway returns a 415 for all other media types. */
const COMMON_MEDIA_TYPES = [
  'application/json',
  'application/merge-patch+json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'application/xml',
  'multipart/form-data',
  'text/html',
  'text/plain',
  'text/xml',
];

/** Sets the status, headers and Error body of the error responses that API Gateway itself generates. */
export function addGatewayResponses(api: apigateway.RestApi): void {
  for (const [type, code] of Object.entries(gatewayResponses)) {
    const body = errorBody(code, undefined, '$context.requestId');
    const { retryAfterSeconds: retryAfter } = errorCatalog[code];
    api.addGatewayResponse(type, {
      type: apigateway.ResponseType.of(type),
      statusCode: body.status.toString(),
      responseHeaders: quoted({
        ...(code === 'unauthorized' && { 'WWW-Authenticate': challenge }),
        ...(retryAfter !== undefined && { 'Retry-After': retryAfter.toString() }),
      }),
      templates: { 'application/json': JSON.stringify(body) },
    });
  }
}

/**
 * Adds an error response for all methods of the resource that have no route: a 405 that lists the supported `methods`,
 * or a 404 if `methods` is omitted. Clients need no API key to get this response.
 */
export function addMockResponse(resource: apigateway.IResource, methods?: string[]): void {
  const body = methods
    ? errorBody('method_not_allowed', allowedMethodsMessage(methods))
    : errorBody('not_found');
  const statusCode = body.status.toString();
  const responseParameters = quoted(methods ? { Allow: methods.join(', ') } : {}, 'method.response.header.');
  const declarations = Object.fromEntries(Object.keys(responseParameters).map((name) => [name, true]));
  const responseTemplates = { 'application/json': JSON.stringify(body) };
  const requestTemplate = JSON.stringify({ statusCode: body.status });
  const integration = new apigateway.MockIntegration({
    passthroughBehavior: apigateway.PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(COMMON_MEDIA_TYPES.map((type) => [type, requestTemplate])),
    integrationResponses: [{ statusCode, responseParameters, responseTemplates }],
  });
  resource.addMethod('ANY', integration, {
    methodResponses: [{ statusCode, responseParameters: declarations }],
  });
}

/** Returns the headers of an error response. API Gateway requires single quotes around static values. */
function quoted(headers: Record<string, string>, prefix = ''): Record<string, string> {
  const all = Object.entries({ ...commonHeaders, ...headers });
  return Object.fromEntries(all.map(([name, value]) => [prefix + name, `'${value}'`]));
}
