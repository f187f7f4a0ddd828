import { randomUUID } from 'node:crypto';
import { type Authorizer, createAuthorizer } from './authorizer.ts';
import { readGatewayResponses, type ResponseType } from './gateway-responses.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import { mockResponse, readProxyResult } from './integrations.ts';
import { proxyEvent } from './proxy-event.ts';
import { type Method, readRoutes, type Routes } from './routes.ts';
import { UsageError } from '../../operate/command.ts';
import { requirePermission } from '../template/permissions.ts';
import { accountId, region, type Template } from '../template/template.ts';

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html, invocation payload. */
const MAX_EVENT_BYTES = 6_291_456;

export interface ApiGateway {
  handle: (request: HttpRequest) => Promise<HttpResponse>;
  gatewayResponse: (responseType: ResponseType) => HttpResponse;
  /** Discards the cached decisions of the authorizers, as the API Gateway action of this name does. */
  flushAuthorizersCache: () => void;
}

interface Api {
  id: string;
  stage: string;
  arn: string;
  routes: Routes;
  authorizers: Map<string, Authorizer>;
  functions: Map<Method, LambdaFunction>;
}

/**
 * Runs the REST API of the template: route, authorizer, then function or mock, with the template's gateway responses for
 * requests that fail on the way.
 *
 * @throws UsageError if API Gateway would respond 500 because something is missing from the template.
 */
export function createApiGateway(template: Template, functions: Map<string, LambdaFunction>): ApiGateway {
  const api = readApi(template, functions);
  const gatewayResponses = readGatewayResponses(template);

  function gatewayResponse(responseType: ResponseType, requestId: string = randomUUID()): HttpResponse {
    const { body, ...response } = gatewayResponses[responseType];
    return withRequestId({ ...response, body: body.replaceAll('$context.requestId', requestId) }, requestId);
  }

  return {
    gatewayResponse: (responseType) => gatewayResponse(responseType),
    async handle(request) {
      const requestId = randomUUID();
      const outcome = await integrate(api, request, requestId);
      return typeof outcome === 'string'
        ? gatewayResponse(outcome, requestId)
        : withRequestId(outcome, requestId);
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
      throw new UsageError(`${httpMethod} ${path} asks for an authorizer that the template does not define.`);
    }
    if (Integration.Type !== 'AWS_PROXY') continue;
    integrated.set(method, functionOf(Integration.Uri, `${arn}/${stage}/${httpMethod}${path}`));
  }
  return { id, stage, arn, routes, authorizers, functions: integrated };
}

/**
 * Finds functions by the URI that API Gateway invokes, which names a function or an alias of it.
 *
 * @throws UsageError from the returned function, if there is no such function or the caller may not invoke it.
 */
function functionsByUri(
  template: Template,
  functions: Map<string, LambdaFunction>,
): (uri: string, callerArn: string) => LambdaFunction {
  const aliases = new Set(
    template
      .resources('AWS::Lambda::Alias')
      .map(({ properties }) => `${properties.FunctionName}:${properties.Name}`),
  );

  return (uri, callerArn) => {
    const arn = /\/functions\/(.+)\/invocations$/.exec(uri)?.[1] ?? '';
    const [name = '', alias] = arn.split(':').slice(6);
    const found = functions.get(name);
    if (!found || (alias !== undefined && !aliases.has(`${name}:${alias}`))) {
      throw new UsageError(`The template has an integration with an unknown function: ${uri}.`);
    }
    requirePermission(template, arn, callerArn);
    return found;
  };
}

function only<T extends 'AWS::ApiGateway::RestApi' | 'AWS::ApiGateway::Stage'>(template: Template, type: T) {
  const [resource, ...more] = template.resources(type);
  if (!resource || more.length > 0) throw new UsageError(`The local service models exactly one ${type}.`);
  return resource;
}

/** The response of the integration, or the type of the gateway response to a rejected request. */
async function integrate(
  { id: apiId, stage, arn, routes, authorizers, functions }: Api,
  request: HttpRequest,
  requestId: string,
): Promise<HttpResponse | ResponseType> {
  const route = routes.find(request.method, request.path);
  if (!route) return 'MISSING_AUTHENTICATION_TOKEN';
  const { method, resourcePath } = route;

  const token = headerValues(request, 'Authorization').join(',');
  const methodArn = `${arn}/${stage}/${request.method}${request.path}`;
  const decision = await authorizers.get(method.AuthorizerId ?? '')?.authorize(token, methodArn);
  if (decision && 'responseType' in decision) return decision.responseType;

  const { Integration } = method;
  if (Integration.Type === 'MOCK') return mockResponse(Integration, request) ?? 'UNSUPPORTED_MEDIA_TYPE';
  const event = proxyEvent(request, { apiId, stage, route, requestId, authorizer: decision?.context });
  if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return 'REQUEST_TOO_LARGE';
  const invocation = await functions.get(method)!.invoke(event);
  const response = 'result' in invocation ? readProxyResult(invocation.result) : undefined;
  if (response) return response;
  console.error(`${resourcePath}: ${'error' in invocation ? invocation.error : 'malformed proxy response'}`);
  return 'DEFAULT_5XX';
}

function withRequestId(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: { ...response.headers, 'x-amzn-RequestId': requestId } };
}
