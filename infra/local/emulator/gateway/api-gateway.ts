import { randomUUID } from 'node:crypto';
import { createAuthorizer } from './authorizer.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import { readGatewayResponses, withRequestId } from './gateway-responses.ts';
import { mockResponse, readProxyResult } from './integrations.ts';
import { proxyEvent } from './proxy-event.ts';
import { readRoutes } from './routes.ts';
import { accountId, region, type Template } from '../template/template.ts';

/** Maximum invocation payload in bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const MAX_EVENT_BYTES = 6_291_456;

export type ApiGateway = ReturnType<typeof createApiGateway>;

/**
 * Creates the REST API that the template defines. For each request, the API finds the route, calls the authorizer, and
 * then calls the function or the mock. If a step fails, the client gets a gateway response.
 */
export function createApiGateway(template: Template, functions: Map<string, LambdaFunction>) {
  /** Returns the function that an integration URI invokes, directly or through an alias. */
  const functionAt = (uri: string) => functions.get(/:function:(\w+)/.exec(uri)![1]!)!;
  const apiId = template.resources('AWS::ApiGateway::RestApi')[0]!.logicalId;
  const stage = template.resources('AWS::ApiGateway::Stage')[0]!.properties.StageName;
  const findRoute = readRoutes(template);
  const authorizers = new Map(
    template
      .resources('AWS::ApiGateway::Authorizer')
      .map(({ logicalId, properties }) => [
        logicalId,
        createAuthorizer(properties, functionAt(properties.AuthorizerUri)),
      ]),
  );
  const gatewayResponse = readGatewayResponses(template);

  /** Returns the integration's response, or the type of the gateway response if the request is rejected. */
  async function invokeIntegration(request: HttpRequest, requestId: string): Promise<HttpResponse | string> {
    const route = findRoute(request.method, request.path);
    if (!route) return 'MISSING_AUTHENTICATION_TOKEN';
    const { AuthorizerId, Integration } = route.method;

    const token = headerValues(request, 'Authorization').join(',');
    const methodArn = `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage}/${request.method}${request.path}`;
    const decision = AuthorizerId
      ? await authorizers.get(AuthorizerId)!.authorize(token, methodArn)
      : undefined;
    if (decision && 'responseType' in decision) return decision.responseType;

    if (Integration.Type === 'MOCK') return mockResponse(Integration, request) ?? 'UNSUPPORTED_MEDIA_TYPE';
    const event = proxyEvent(request, { apiId, stage, route, requestId, authorizer: decision?.context });
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return 'REQUEST_TOO_LARGE';
    const invocation = await functionAt(Integration.Uri).invoke(event);
    const response = 'result' in invocation ? readProxyResult(invocation.result) : undefined;
    if (response) return response;
    const reason = 'error' in invocation ? invocation.error : 'malformed proxy response';
    console.error(`${route.resourcePath}: ${reason}`);
    return 'DEFAULT_5XX';
  }

  return {
    gatewayResponse,
    async handle(request: HttpRequest): Promise<HttpResponse> {
      const requestId = randomUUID();
      const outcome = await invokeIntegration(request, requestId);
      return typeof outcome === 'string'
        ? gatewayResponse(outcome, requestId)
        : withRequestId(outcome, requestId);
    },
    flushAuthorizersCache: (): void => {
      for (const { flushCache } of authorizers.values()) flushCache();
    },
  };
}
