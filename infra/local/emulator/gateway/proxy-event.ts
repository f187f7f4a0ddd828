import { headerValues, type HttpRequest, type Pair } from './http-message.ts';
import type { Route } from './routes.ts';
import { accountId } from '../template/template.ts';

const REMOVED_HEADERS =
  /^(?:connection|content-length|expect|keep-alive|proxy-authenticate|server|te|trailer|transfer-encoding|upgrade|www-authenticate|x-forwarded-(?:for|proto))$/i;

/** Fields of `requestContext` that the request and the route do not determine. */
type RequestContext = Record<'apiId' | 'stage' | 'requestId', string> & { authorizer: object | undefined };

/**
 * Returns the event that API Gateway sends to a function (payload format 1.0). Absent values are `null`. Query
 * parameters are decoded, but the path and its parameters are not. Single-value maps contain each name's last value.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function proxyEvent(request: HttpRequest, body: Buffer, route: Route, context: RequestContext) {
  const { method: httpMethod, path, sourceIp } = request;
  const headers: Pair[] = [
    ...request.headers.filter(([name]) => !REMOVED_HEADERS.test(name)),
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Proto', 'http'],
  ];
  // URLSearchParams leaves invalid percent-encoding unchanged, so malformed queries reach the function.
  const parameters = [...new URLSearchParams(request.query)];
  return {
    resource: route.resourcePath,
    path,
    httpMethod,
    headers: lastValues(headers),
    multiValueHeaders: allValues(headers),
    queryStringParameters: lastValues(parameters),
    multiValueQueryStringParameters: allValues(parameters),
    pathParameters: lastValues(route.pathParameters),
    stageVariables: null,
    requestContext: {
      ...context,
      accountId,
      domainName: headerValues(request, 'Host').at(-1) ?? 'localhost',
      extendedRequestId: context.requestId,
      httpMethod,
      identity: { sourceIp, userAgent: headerValues(request, 'User-Agent').at(-1) ?? null },
      path, // As on a custom domain, the path does not contain the stage.
      protocol: 'HTTP/1.1',
      requestTimeEpoch: Date.now(),
      resourceId: route.method.ResourceId,
      resourcePath: route.resourcePath,
    },
    body: body.toString() || null,
    isBase64Encoded: false,
  };
}

function lastValues(pairs: Pair[]): Record<string, string> | null {
  return pairs.length > 0 ? Object.fromEntries(pairs) : null;
}

function allValues(pairs: Pair[]): Record<string, string[]> | null {
  const groups = Map.groupBy(pairs, ([name]) => name);
  const values = groups.entries().map(([name, group]) => [name, group.map(([, value]) => value)]);
  return groups.size > 0 ? Object.fromEntries(values) : null;
}
