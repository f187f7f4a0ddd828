import { randomUUID } from 'node:crypto';
import { type AccessLogValues, accessLogWriter } from './access-log.ts';
import { type Authorizer, createAuthorizer } from './authorizer.ts';
import { readGatewayResponses, type ResponseType } from './gateway-responses.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import { functionsByUri, type FunctionOf } from './function-uris.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import { answerMock, readProxyResult } from './integrations.ts';
import { commonLogTime, proxyEvent } from './proxy-event.ts';
import { type Method, readRoutes } from './routes.ts';
import { RunnerError } from '../runner-error.ts';
import { accountId, region, type Template } from '../template/template.ts';

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html, invocation payload. */
const MAX_EVENT_BYTES = 6_291_456;

export interface ApiGateway {
  handle: (request: HttpRequest) => Promise<HttpResponse>;
  /** An answer of API Gateway's own, by its response type. */
  refuse: (responseType: ResponseType) => HttpResponse;
}

export interface RestApi extends ApiGateway {
  /** Has every request decided anew, as API Gateway's action of this name does. */
  flushAuthorizersCache: () => void;
}

/**
 * The REST API of the template: finds the route, asks the authorizer, then a function or a mock, and gives the
 * template's gateway response where something fails on the way.
 *
 * @param logAccess takes the lines of the access log; none are written without.
 * @throws RunnerError when the template leaves out what API Gateway would answer 500 without.
 */
export function createApiGateway(
  template: Template,
  functions: Map<string, LambdaFunction>,
  logAccess?: (line: string) => void,
): RestApi {
  const routes = readRoutes(template);
  const apiId = only(template, 'AWS::ApiGateway::RestApi').logicalId;
  const { StageName: stage, AccessLogSetting } = only(template, 'AWS::ApiGateway::Stage').properties;
  const accessLine = AccessLogSetting && accessLogWriter(AccessLogSetting.Format);
  const arnPrefix = `arn:aws:execute-api:${region}:${accountId}:${apiId}`;
  const gatewayResponses = readGatewayResponses(template);
  const functionOf = functionsByUri(template, functions);
  const authorizers = readAuthorizers(template, functionOf, arnPrefix);
  const integrated = new Map<Method, LambdaFunction>();
  for (const { httpMethod, path, method } of routes.all) {
    if (method.AuthorizationType === 'CUSTOM' && !authorizers.has(method.AuthorizerId ?? '')) {
      throw new RunnerError(
        `${httpMethod} ${path} asks for an authorizer that the template does not define.`,
      );
    }
    if (method.Integration.Type !== 'AWS_PROXY') continue;
    const callerArn = `${arnPrefix}/${stage}/${httpMethod}${path}`;
    integrated.set(method, functionOf(method.Integration.Uri, callerArn));
  }

  function refuse(responseType: ResponseType, requestId: string = randomUUID()): HttpResponse {
    const { status, headers, body } = gatewayResponses[responseType];
    return withRequestId(
      { status, headers, body: body.replaceAll('$context.requestId', requestId) },
      requestId,
    );
  }

  /** Gives an answer, or the response type of a refusal, and notes on the way what the access log is told. */
  async function answer(
    request: HttpRequest,
    requestId: string,
    known: AccessLogValues,
  ): Promise<HttpResponse | ResponseType> {
    const route = routes.find(request.method, request.path);
    if (!route) return 'MISSING_AUTHENTICATION_TOKEN';
    known['$context.resourcePath'] = route.resourcePath;

    let context: Record<string, string> | undefined;
    const authorizer = authorizers.get(route.method.AuthorizerId ?? '');
    if (authorizer) {
      const token = headerValues(request, 'Authorization');
      const start = performance.now();
      const decision = await authorizer.authorize(
        token.length > 0 ? token.join(',') : undefined,
        `${arnPrefix}/${stage}/${request.method}${request.path}`,
      );
      known['$context.authorizer.latency'] = millisecondsSince(start);
      if ('refusal' in decision) return decision.refusal;
      context = decision.context;
      if (context['keyId']) known['$context.authorizer.keyId'] = context['keyId'];
    }

    const { Integration } = route.method;
    if (Integration.Type === 'MOCK') return answerMock(Integration, request) ?? 'UNSUPPORTED_MEDIA_TYPE';
    const event = proxyEvent(request, { apiId, stage, route, requestId, authorizer: context });
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return 'REQUEST_TOO_LARGE';
    const start = performance.now();
    // One id for the request and for the invocation that comes of it.
    known['$context.awsEndpointRequestId'] = requestId;
    const invocation = await integrated.get(route.method)!.invoke(event);
    known['$context.integration.latency'] = millisecondsSince(start);
    const result = 'result' in invocation ? readProxyResult(invocation.result) : undefined;
    if (result) return result;
    console.error(
      `${route.resourcePath}: ${'error' in invocation ? invocation.error : 'malformed proxy response'}`,
    );
    return 'DEFAULT_5XX';
  }

  async function handle(request: HttpRequest): Promise<HttpResponse> {
    const start = performance.now();
    const requestId = randomUUID();
    const known: AccessLogValues = {
      '$context.requestId': requestId,
      '$context.extendedRequestId': requestId,
      '$context.requestTime': commonLogTime(new Date()),
      '$context.httpMethod': request.method,
      '$context.identity.sourceIp': request.sourceIp,
    };
    const outcome = await answer(request, requestId, known);
    const isRefusal = typeof outcome === 'string';
    const response = isRefusal ? refuse(outcome, requestId) : withRequestId(outcome, requestId);
    if (accessLine && logAccess) {
      const { status, body } = response;
      const line = accessLine({
        ...known,
        ...(isRefusal && { '$context.error.responseType': outcome }),
        '$context.status': status,
        '$context.responseLength': Buffer.byteLength(body),
        '$context.responseLatency': millisecondsSince(start),
      });
      logAccess(line);
    }
    return response;
  }

  return {
    handle,
    refuse: (responseType) => refuse(responseType),
    flushAuthorizersCache() {
      for (const { flushCache } of authorizers.values()) flushCache();
    },
  };
}

function withRequestId(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: { ...response.headers, 'x-amzn-RequestId': requestId } };
}

function readAuthorizers(
  template: Template,
  functionOf: FunctionOf,
  arnPrefix: string,
): Map<string, Authorizer> {
  return new Map(
    template.resources('AWS::ApiGateway::Authorizer').map((authorizer) => {
      const { logicalId, properties } = authorizer;
      const fn = functionOf(properties.AuthorizerUri, `${arnPrefix}/authorizers/${logicalId}`);
      return [logicalId, createAuthorizer(authorizer, fn)];
    }),
  );
}

function only<T extends 'AWS::ApiGateway::RestApi' | 'AWS::ApiGateway::Stage'>(template: Template, type: T) {
  const [resource, ...more] = template.resources(type);
  if (!resource || more.length > 0) throw new RunnerError(`The local service models exactly one ${type}.`);
  return resource;
}

function millisecondsSince(start: number): number {
  return Math.round(performance.now() - start);
}
