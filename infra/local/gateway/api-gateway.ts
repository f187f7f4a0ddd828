import { randomUUID } from 'node:crypto';
import { accessLogLine, type AccessLogValues } from './access-log.ts';
import { type Authorizer, createAuthorizer, type Decision } from './authorizer.ts';
import { readGatewayResponses, type ResponseType } from './gateway-responses.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import { functionsByUri } from './function-uris.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import { mockResponse, readProxyResult } from './integrations.ts';
import { commonLogTime, proxyEvent } from './proxy-event.ts';
import { type Method, readRoutes, type Route, type Routes } from './routes.ts';
import { RunnerError } from '../runner-error.ts';
import { accountId, region, type Template } from '../template/template.ts';

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html, invocation payload. */
const MAX_EVENT_BYTES = 6_291_456;

export interface ApiGateway {
  handle: (request: HttpRequest) => Promise<HttpResponse>;
  /** The response of API Gateway itself to a request that it rejects. */
  gatewayResponse: (responseType: ResponseType) => HttpResponse;
  /** Discards the cached decisions of the authorizers, as the API Gateway action of this name does. */
  flushAuthorizersCache: () => void;
}

/** A REST API of the template. */
interface Api {
  id: string;
  stage: string;
  arn: string;
  routes: Routes;
  authorizers: Map<string, Authorizer>;
  /** The functions of the methods with a proxy integration. */
  functions: Map<Method, LambdaFunction>;
}

/**
 * Runs the REST API of the template: route, authorizer, then function or mock, with the template's gateway responses for
 * requests that fail on the way.
 *
 * @param logAccess receives the lines of the access log. If omitted, none are written.
 * @throws RunnerError if API Gateway would respond 500 because something is missing from the template.
 */
export function createApiGateway(
  template: Template,
  functions: Map<string, LambdaFunction>,
  logAccess?: (line: string) => void,
): ApiGateway {
  const api = readApi(template, functions);
  const gatewayResponses = readGatewayResponses(template);
  const { AccessLogSetting } = only(template, 'AWS::ApiGateway::Stage').properties;

  function gatewayResponse(responseType: ResponseType, requestId: string = randomUUID()): HttpResponse {
    const { body, ...response } = gatewayResponses[responseType];
    return withRequestId({ ...response, body: body.replaceAll('$context.requestId', requestId) }, requestId);
  }

  return {
    gatewayResponse: (responseType) => gatewayResponse(responseType),
    async handle(request) {
      const start = performance.now();
      const requestId = randomUUID();
      const log: AccessLogValues = {
        '$context.requestId': requestId,
        '$context.extendedRequestId': requestId,
        '$context.requestTime': commonLogTime(new Date()),
        '$context.httpMethod': request.method,
        '$context.identity.sourceIp': request.sourceIp,
      };
      const outcome = await integrate(api, request, requestId, log);
      const isRejected = typeof outcome === 'string';
      const response = isRejected ? gatewayResponse(outcome, requestId) : withRequestId(outcome, requestId);
      if (isRejected) log['$context.error.responseType'] = outcome;
      log['$context.status'] = response.status;
      log['$context.responseLength'] = Buffer.byteLength(response.body);
      log['$context.responseLatency'] = millisecondsSince(start);
      if (AccessLogSetting) logAccess?.(accessLogLine(AccessLogSetting.Format, log));
      return response;
    },
    flushAuthorizersCache() {
      for (const { flushCache } of api.authorizers.values()) flushCache();
    },
  };
}

function readApi(template: Template, functions: Map<string, LambdaFunction>): Api {
  const id = only(template, 'AWS::ApiGateway::RestApi').logicalId;
  const stage = only(template, 'AWS::ApiGateway::Stage').properties.StageName;
  const arn = `arn:aws:execute-api:${region}:${accountId}:${id}`;
  const routes = readRoutes(template);
  const functionOf = functionsByUri(template, functions);
  const authorizers = new Map(
    template.resources('AWS::ApiGateway::Authorizer').map((authorizer) => {
      const { logicalId, properties } = authorizer;
      const fn = functionOf(properties.AuthorizerUri, `${arn}/authorizers/${logicalId}`);
      return [logicalId, createAuthorizer(authorizer, fn)];
    }),
  );
  const integrated = new Map<Method, LambdaFunction>();
  for (const { httpMethod, path, method } of routes.all) {
    const { AuthorizationType, AuthorizerId = '', Integration } = method;
    if (AuthorizationType === 'CUSTOM' && !authorizers.has(AuthorizerId)) {
      throw new RunnerError(
        `${httpMethod} ${path} asks for an authorizer that the template does not define.`,
      );
    }
    if (Integration.Type !== 'AWS_PROXY') continue;
    integrated.set(method, functionOf(Integration.Uri, `${arn}/${stage}/${httpMethod}${path}`));
  }
  return { id, stage, arn, routes, authorizers, functions: integrated };
}

function only<T extends 'AWS::ApiGateway::RestApi' | 'AWS::ApiGateway::Stage'>(template: Template, type: T) {
  const [resource, ...more] = template.resources(type);
  if (!resource || more.length > 0) throw new RunnerError(`The local service models exactly one ${type}.`);
  return resource;
}

/**
 * Takes a request through authorizer and integration.
 *
 * @param log gets the values that the access log has of them.
 * @returns the response of the integration, or the type of the gateway response to a rejected request.
 */
async function integrate(
  api: Api,
  request: HttpRequest,
  requestId: string,
  log: AccessLogValues,
): Promise<HttpResponse | ResponseType> {
  const route = api.routes.find(request.method, request.path);
  if (!route) return 'MISSING_AUTHENTICATION_TOKEN';
  log['$context.resourcePath'] = route.resourcePath;

  const decision = await authorize(api, request, route, log);
  if (decision && 'responseType' in decision) return decision.responseType;

  const { Integration } = route.method;
  if (Integration.Type === 'MOCK') return mockResponse(Integration, request) ?? 'UNSUPPORTED_MEDIA_TYPE';
  const { id: apiId, stage } = api;
  const event = proxyEvent(request, { apiId, stage, route, requestId, authorizer: decision?.context });
  if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return 'REQUEST_TOO_LARGE';
  const start = performance.now();
  // The invocation has the id of its request.
  log['$context.awsEndpointRequestId'] = requestId;
  const invocation = await api.functions.get(route.method)!.invoke(event);
  log['$context.integration.latency'] = millisecondsSince(start);
  const response = 'result' in invocation ? readProxyResult(invocation.result) : undefined;
  if (response) return response;
  const reason = 'error' in invocation ? invocation.error : 'malformed proxy response';
  console.error(`${route.resourcePath}: ${reason}`);
  return 'DEFAULT_5XX';
}

/** @returns undefined for a method without authorizer. */
async function authorize(
  { authorizers, arn, stage }: Api,
  request: HttpRequest,
  { method }: Route,
  log: AccessLogValues,
): Promise<Decision | undefined> {
  const authorizer = authorizers.get(method.AuthorizerId ?? '');
  if (!authorizer) return undefined;
  const token = headerValues(request, 'Authorization').join(',');
  const start = performance.now();
  const decision = await authorizer.authorize(token, `${arn}/${stage}/${request.method}${request.path}`);
  log['$context.authorizer.latency'] = millisecondsSince(start);
  if ('context' in decision && decision.context['keyId']) {
    log['$context.authorizer.keyId'] = decision.context['keyId'];
  }
  return decision;
}

function withRequestId(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: { ...response.headers, 'x-amzn-RequestId': requestId } };
}

function millisecondsSince(start: number): number {
  return Math.round(performance.now() - start);
}
