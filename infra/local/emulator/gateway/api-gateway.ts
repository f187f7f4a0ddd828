import { randomUUID } from 'node:crypto';
import { createAuthorizer } from './token-authorizer.ts';
import { limitLargeBodies, readBody } from './body.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import { type Functions, invoke } from './invoke.ts';
import { proxyEvent } from './proxy-event.ts';
import { ProxyResult } from './proxy-result.ts';
import { readRoutes } from './routes.ts';
import {
  type GatewayResponseType,
  mockResponse,
  readGatewayResponses,
  withRequestId,
} from './static-responses.ts';
import { EmulatorError } from '../emulator-error.ts';
import type { ResourceType } from '../template/resources.ts';
import { accountId, region } from '../template/intrinsics.ts';
import type { Resource, Template } from '../template/template.ts';

/** API Gateway's maximum payload in bytes: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Lambda's maximum payload in bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const MAX_EVENT_BYTES = 6_291_456;
/**
 * Maximum number of large bodies in memory at the same time. It is low, because a body takes several times its size
 * when its event is copied to a worker.
 */
const MAX_LARGE_BODIES = 1;

export type ApiGateway = ReturnType<typeof createApiGateway>;

/**
 * Creates the REST API that the template defines. For each request, the API finds the route, calls the route's
 * authorizer if there is one, and then calls the function or the mock. If a step fails, the client gets a gateway
 * response.
 *
 * @throws EmulatorError if the template does not define exactly one API and stage, or lacks a gateway response.
 */
export function createApiGateway(template: Template, functions: Functions) {
  const { logicalId: apiId } = onlyOne(template, 'AWS::ApiGateway::RestApi');
  const stage = onlyOne(template, 'AWS::ApiGateway::Stage').properties.StageName;
  const findRoute = readRoutes(template);
  const gatewayResponse = readGatewayResponses(template);
  const largeBodies = limitLargeBodies(MAX_LARGE_BODIES);
  const authorizers = new Map(
    template
      .resources('AWS::ApiGateway::Authorizer')
      .map(({ logicalId, properties }) => [logicalId, createAuthorizer(properties, functions)]),
  );

  /** Returns the integration's response, or the type of the gateway response if the request is rejected or fails. */
  async function respond(
    request: HttpRequest,
    requestId: string,
  ): Promise<HttpResponse | GatewayResponseType> {
    const contentLength = Number(headerValues(request, 'Content-Length').at(-1));
    if (contentLength > MAX_BODY_BYTES) return 'REQUEST_TOO_LARGE';
    const route = findRoute(request.method, request.path);
    if (!route) return 'MISSING_AUTHENTICATION_TOKEN';

    let authorizer: Record<string, string> | undefined;
    if (route.method.AuthorizationType === 'CUSTOM') {
      const token = headerValues(request, 'Authorization').join(',');
      const methodArn = `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage}/${request.method}${request.path}`;
      const outcome = await authorizers.get(route.method.AuthorizerId)!.authorize(token, methodArn);
      if (typeof outcome === 'string') return outcome;
      authorizer = outcome;
    }

    const integration = route.method.Integration;
    if (integration.Type === 'MOCK') return mockResponse(integration, request) ?? 'UNSUPPORTED_MEDIA_TYPE';
    // The event contains the body, so a body above the event's limit is rejected without reading it.
    if (contentLength > MAX_EVENT_BYTES) return 'REQUEST_TOO_LARGE';
    using occupied = new DisposableStack();
    const body = await readBody(request, MAX_EVENT_BYTES, largeBodies, occupied);
    if (!body) return 'REQUEST_TOO_LARGE';
    const event = proxyEvent(request, body, route, { apiId, stage, requestId, authorizer });
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return 'REQUEST_TOO_LARGE';
    return (await invoke(functions, integration.Uri, event, ProxyResult)) ?? 'DEFAULT_5XX';
  }

  return {
    gatewayResponse,
    /** Returns the response to a request: that of its route, or a gateway response. */
    async handle(request: HttpRequest): Promise<HttpResponse> {
      const requestId = randomUUID();
      const response = await respond(request, requestId);
      return typeof response === 'string'
        ? gatewayResponse(response, requestId)
        : withRequestId(response, requestId);
    },
    /** Discards all cached policies, so that the authorizers run for the next request of each token. */
    flushAuthorizersCache(): void {
      for (const authorizer of authorizers.values()) authorizer.flushCache();
    },
  };
}

function onlyOne<T extends ResourceType>(template: Template, type: T): Resource<T> {
  const [first, ...others] = template.resources(type);
  if (first && others.length === 0) return first;
  throw new EmulatorError(`The emulator supports only stacks with exactly one ${type}.`);
}
