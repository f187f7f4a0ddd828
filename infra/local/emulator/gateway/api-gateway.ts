import { randomUUID } from 'node:crypto';
import { createAuthorizer } from './authorizer.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import { mockResponse, readProxyResult, staticResponse } from './integrations.ts';
import { proxyEvent } from './proxy-event.ts';
import { readRoutes } from './routes.ts';
import { accountId, region, type Template } from '../template/template.ts';

/** Maximum invocation payload in bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const MAX_EVENT_BYTES = 6_291_456;

export type ApiGateway = ReturnType<typeof createApiGateway>;

/**
 * Creates the REST API that the template defines. For each request, the API finds the route, calls the authorizer, and
 * then calls the function or the mock. If a step fails, the client gets a gateway response from the template.
 */
export function createApiGateway(template: Template, functions: Map<string, LambdaFunction>) {
  const api = readApi(template, functions);
  const gatewayResponses = new Map(
    template
      .resources('AWS::ApiGateway::GatewayResponse')
      .map(({ properties }) => [properties.ResponseType, staticResponse(properties)]),
  );

  function gatewayResponse(responseType: string, requestId: string = randomUUID()): HttpResponse {
    const { body, ...response } = gatewayResponses.get(responseType)!;
    return withRequestId({ ...response, body: body.replaceAll('$context.requestId', requestId) }, requestId);
  }

  return {
    gatewayResponse,
    async handle(request: HttpRequest): Promise<HttpResponse> {
      const requestId = randomUUID();
      const outcome = await invokeIntegration(api, request, requestId);
      return typeof outcome === 'string'
        ? gatewayResponse(outcome, requestId)
        : withRequestId(outcome, requestId);
    },
    flushAuthorizersCache: (): void => {
      for (const { flushCache } of api.authorizers.values()) flushCache();
    },
  };
}

function readApi(template: Template, functions: Map<string, LambdaFunction>) {
  /** Returns the function that an integration URI invokes, directly or through an alias. */
  const functionAt = (uri: string) => functions.get(/:function:(\w+)/.exec(uri)![1]!)!;
  const authorizers = new Map(
    template
      .resources('AWS::ApiGateway::Authorizer')
      .map(({ logicalId, properties }) => [
        logicalId,
        createAuthorizer(properties, functionAt(properties.AuthorizerUri)),
      ]),
  );
  return {
    apiId: template.resources('AWS::ApiGateway::RestApi')[0]!.logicalId,
    stage: template.resources('AWS::ApiGateway::Stage')[0]!.properties.StageName,
    findRoute: readRoutes(template),
    authorizers,
    functionAt,
  };
}

/** Returns the integration's response, or the type of the gateway response if the request is rejected. */
async function invokeIntegration(
  { apiId, stage, findRoute, authorizers, functionAt }: ReturnType<typeof readApi>,
  request: HttpRequest,
  requestId: string,
): Promise<HttpResponse | string> {
  const route = findRoute(request.method, request.path);
  if (!route) return 'MISSING_AUTHENTICATION_TOKEN';
  const { AuthorizationType, AuthorizerId = '', Integration } = route.method;

  const token = headerValues(request, 'Authorization').join(',');
  const methodArn = `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage}/${request.method}${request.path}`;
  const decision =
    AuthorizationType === 'CUSTOM'
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

function withRequestId(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: { ...response.headers, 'x-amzn-RequestId': requestId } };
}
