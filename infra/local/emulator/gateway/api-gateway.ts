import { randomUUID } from 'node:crypto';
import { createAuthorizer } from './authorizer.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import { proxyEvent } from './proxy-event.ts';
import { invoke, mockResponse, ProxyResult, readGatewayResponses } from './responses.ts';
import { readRoutes } from './routes.ts';
import { EmulatorError } from '../errors.ts';
import type { ResourceType } from '../template/resources.ts';
import { accountId, region, type Resource, type Template } from '../template/template.ts';

/** API Gateway's maximum payload in bytes: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Lambda's maximum payload in bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const MAX_EVENT_BYTES = 6_291_456;

export type ApiGateway = ReturnType<typeof createApiGateway>;

/**
 * Creates the REST API that the template defines. For each request, the API finds the route, calls the authorizer, and
 * then calls the function or the mock. If a step fails, the client gets a gateway response.
 */
export function createApiGateway(template: Template, functions: Map<string, LambdaFunction>) {
  const { logicalId: apiId } = onlyOne(template, 'AWS::ApiGateway::RestApi');
  const { StageName: stage } = onlyOne(template, 'AWS::ApiGateway::Stage').properties;
  const findRoute = readRoutes(template);
  const authorizers = new Map<string, ReturnType<typeof createAuthorizer>>();
  for (const { logicalId, properties } of template.resources('AWS::ApiGateway::Authorizer'))
    authorizers.set(logicalId, createAuthorizer(properties, functions));
  const gatewayResponse = readGatewayResponses(template);

  /** Returns the integration's response, or the type of the gateway response if the request is rejected or fails. */
  async function invokeIntegration(request: HttpRequest, requestId: string): Promise<HttpResponse | string> {
    if (Number(headerValues(request, 'Content-Length').at(-1)) > MAX_BODY_BYTES) return 'REQUEST_TOO_LARGE';
    const route = findRoute(request.method, request.path);
    if (!route) return 'MISSING_AUTHENTICATION_TOKEN';
    const { AuthorizerId, Integration } = route.method;

    const token = headerValues(request, 'Authorization').join(',');
    const methodArn = `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage}/${request.method}${request.path}`;
    const authorizer = AuthorizerId && (await authorizers.get(AuthorizerId)!.authorize(token, methodArn));
    if (typeof authorizer === 'string') return authorizer;

    if (Integration.Type === 'MOCK') return mockResponse(Integration, request) ?? 'UNSUPPORTED_MEDIA_TYPE';
    const body = Buffer.concat(await Array.fromAsync(request.body));
    const event = proxyEvent(request, body, route, { apiId, stage, requestId, authorizer });
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return 'REQUEST_TOO_LARGE';
    return (await invoke(functions, Integration.Uri, event, ProxyResult)) ?? 'DEFAULT_5XX';
  }

  return {
    gatewayResponse,
    async handle(request: HttpRequest): Promise<HttpResponse> {
      const requestId = randomUUID();
      return gatewayResponse(await invokeIntegration(request, requestId), requestId);
    },
    flushAuthorizersCache: (): void => {
      for (const { flushCache } of authorizers.values()) flushCache();
    },
  };
}

function onlyOne<T extends ResourceType>(template: Template, type: T): Resource<T> {
  const [first, ...others] = template.resources(type);
  if (first && others.length === 0) return first;
  throw new EmulatorError(`The emulator supports only stacks with exactly one ${type}.`);
}
