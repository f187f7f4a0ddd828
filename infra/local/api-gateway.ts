import { randomUUID } from 'node:crypto';
import { type Authorize, createAuthorizer } from './authorizer.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { LambdaFunction } from './lambda.ts';
import { answerMock, readProxyResult, staticResponse } from './integrations.ts';
import { requirePermission } from './permissions.ts';
import { proxyEvent } from './proxy-event.ts';
import { readRoutes } from './routes.ts';
import { RunnerError } from './runner-error.ts';
import { accountId, region, type Template } from './template.ts';

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html, invocation payload. */
const MAX_EVENT_BYTES = 6_291_456;

/** What API Gateway here has occasion to say by itself. */
const RESPONSE_TYPES = [
  'ACCESS_DENIED',
  'AUTHORIZER_CONFIGURATION_ERROR',
  'DEFAULT_4XX',
  'DEFAULT_5XX',
  'MISSING_AUTHENTICATION_TOKEN',
  'REQUEST_TOO_LARGE',
  'UNAUTHORIZED',
  'UNSUPPORTED_MEDIA_TYPE',
] as const;
export type ResponseType = (typeof RESPONSE_TYPES)[number];

export interface ApiGateway {
  handle: (request: HttpRequest) => Promise<HttpResponse>;
  /** An answer of API Gateway's own, by its response type. */
  refuse: (responseType: ResponseType) => HttpResponse;
}

/**
 * The REST API of the template: finds the route, asks the authorizer, then a function or a mock, and gives the
 * template's gateway response where something fails on the way.
 *
 * @throws RunnerError when the template leaves out what API Gateway would answer 500 without.
 */
export function createApiGateway(template: Template, functions: Map<string, LambdaFunction>): ApiGateway {
  const routes = readRoutes(template);
  const apiId = only(template, 'AWS::ApiGateway::RestApi').logicalId;
  const stage = only(template, 'AWS::ApiGateway::Stage').properties.StageName;
  const arnPrefix = `arn:aws:execute-api:${region}:${accountId}:${apiId}`;
  const gatewayResponses = readGatewayResponses(template);
  const authorizers = readAuthorizers(template, functions, arnPrefix);
  for (const { httpMethod, path, method } of routes.all) {
    if (method.AuthorizationType === 'CUSTOM' && !authorizers.has(method.AuthorizerId ?? '')) {
      throw new RunnerError(
        `${httpMethod} ${path} asks for an authorizer that the template does not define.`,
      );
    }
    if (method.Integration.Type !== 'AWS_PROXY') continue;
    const functionArn = functionArnOf(method.Integration.Uri);
    requirePermission(template, functionArn, `${arnPrefix}/${stage}/${httpMethod}${path}`);
  }

  function refuse(responseType: ResponseType, requestId: string = randomUUID()): HttpResponse {
    const { status, headers, body } = gatewayResponses[responseType];
    return withRequestId(
      { status, headers, body: body.replaceAll('$context.requestId', requestId) },
      requestId,
    );
  }

  async function handle(request: HttpRequest): Promise<HttpResponse> {
    const requestId = randomUUID();
    const route = routes.find(request.method, request.path);
    if (!route) return refuse('MISSING_AUTHENTICATION_TOKEN', requestId);

    let context: Record<string, string> | undefined;
    const authorize = authorizers.get(route.method.AuthorizerId ?? '');
    if (authorize) {
      const token = headerValues(request, 'Authorization');
      const decision = await authorize(
        token.length > 0 ? token.join(',') : undefined,
        `${arnPrefix}/${stage}/${request.method}${request.path}`,
      );
      if ('refusal' in decision) return refuse(decision.refusal, requestId);
      context = decision.context;
    }

    const { Integration } = route.method;
    if (Integration.Type === 'MOCK') {
      const answer = answerMock(Integration, request);
      if (!answer) return refuse('UNSUPPORTED_MEDIA_TYPE', requestId);
      return withRequestId(answer, requestId);
    }
    const event = proxyEvent(request, { apiId, stage, route, requestId, authorizer: context });
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES)
      return refuse('REQUEST_TOO_LARGE', requestId);
    const invocation = await functionOf(Integration.Uri, functions).invoke(event);
    const answer = 'result' in invocation ? readProxyResult(invocation.result) : undefined;
    if (!answer) {
      console.error(
        `${route.resourcePath}: ${'error' in invocation ? invocation.error : 'malformed proxy response'}`,
      );
      return refuse('DEFAULT_5XX', requestId);
    }
    return withRequestId(answer, requestId);
  }

  return { handle, refuse: (responseType) => refuse(responseType) };
}

function readGatewayResponses(template: Template): Record<ResponseType, HttpResponse> {
  const given = template.resources('AWS::ApiGateway::GatewayResponse').map(({ properties }) => properties);
  const entries = RESPONSE_TYPES.map((type) => {
    const response = given.find(({ ResponseType }) => ResponseType === type);
    if (!response) throw new RunnerError(`The template has no gateway response of the type ${type}.`);
    return [type, staticResponse(response)];
  });
  return Object.fromEntries(entries) as Record<ResponseType, HttpResponse>;
}

function withRequestId(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: { ...response.headers, 'x-amzn-RequestId': requestId } };
}

function readAuthorizers(
  template: Template,
  functions: Map<string, LambdaFunction>,
  arnPrefix: string,
): Map<string, Authorize> {
  return new Map(
    template.resources('AWS::ApiGateway::Authorizer').map((authorizer) => {
      const { logicalId, properties } = authorizer;
      requirePermission(
        template,
        functionArnOf(properties.AuthorizerUri),
        `${arnPrefix}/authorizers/${logicalId}`,
      );
      return [logicalId, createAuthorizer(authorizer, functionOf(properties.AuthorizerUri, functions))];
    }),
  );
}

function functionArnOf(uri: string): string {
  return /\/functions\/(.+)\/invocations$/.exec(uri)?.[1] ?? '';
}

function functionOf(uri: string, functions: Map<string, LambdaFunction>): LambdaFunction {
  const arn = functionArnOf(uri);
  const found = functions.get(arn.slice(arn.lastIndexOf(':') + 1));
  if (!found) throw new RunnerError(`The template has an integration with an unknown function: ${uri}.`);
  return found;
}

function only<T extends 'AWS::ApiGateway::RestApi' | 'AWS::ApiGateway::Stage'>(template: Template, type: T) {
  const [resource, ...more] = template.resources(type);
  if (!resource || more.length > 0) throw new RunnerError(`The local service models exactly one ${type}.`);
  return resource;
}
