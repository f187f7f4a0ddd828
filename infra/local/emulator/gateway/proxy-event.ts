import { headerValues, type HttpRequest, type Pair } from './http-message.ts';
import type { Route } from './routes.ts';
import { accountId } from '../template/intrinsics.ts';

/** Headers that API Gateway does not pass to a function or that it replaces. */
const REMOVED_HEADERS =
  /^(?:connection|content-length|expect|keep-alive|proxy-authenticate|server|te|trailer|transfer-encoding|upgrade|www-authenticate|x-forwarded-(?:for|proto))$/i;

/** Fields of `requestContext` that the request and the route do not determine. */
interface RequestContext {
  apiId: string;
  stage: string;
  requestId: string;
  /** Principal and context that the authorizer returned. Undefined if the method has no authorizer. */
  authorizer: Record<string, string> | undefined;
}

/**
 * Returns the event that API Gateway sends to a function (payload format 1.0). Absent values are `null`. Query
 * parameters are decoded, but the path and its parameters are not. Single-value maps contain each name's last value.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function proxyEvent(request: HttpRequest, body: Buffer, route: Route, context: RequestContext) {
  const { method: httpMethod, path, host: domainName, sourceIp } = request;
  const { resourcePath, pathParameters } = route;
  const headers: Pair[] = [
    ...request.headers.filter(([name]) => !REMOVED_HEADERS.test(name)),
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Proto', 'http'],
  ];
  // URLSearchParams leaves invalid percent-encoding unchanged, so malformed queries reach the function.
  const queryParameters = [...new URLSearchParams(request.query)];
  return {
    resource: resourcePath,
    path,
    httpMethod,
    headers: lastValues(headers),
    multiValueHeaders: allValues(headers),
    queryStringParameters: lastValues(queryParameters),
    multiValueQueryStringParameters: allValues(queryParameters),
    pathParameters: lastValues(pathParameters),
    stageVariables: null,
    requestContext: {
      ...context,
      accountId,
      domainName,
      extendedRequestId: context.requestId,
      httpMethod,
      identity: { sourceIp, userAgent: headerValues(request, 'User-Agent').at(-1) ?? null },
      path, // As on a custom domain, the path does not contain the stage.
      protocol: 'HTTP/1.1',
      requestTimeEpoch: Date.now(),
      resourceId: route.method.ResourceId,
      resourcePath,
    },
    body: body.toString() || null,
    isBase64Encoded: false,
  };
}

function lastValues(pairs: Pair[]): Record<string, string> | null {
  if (pairs.length === 0) return null;
  return Object.fromEntries(pairs);
}

function allValues(pairs: Pair[]): Record<string, string[]> | null {
  if (pairs.length === 0) return null;
  const pairsByName = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries(
    Array.from(pairsByName, ([name, sameName]) => [name, sameName.map(([, value]) => value)]),
  );
}
