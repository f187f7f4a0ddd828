import { headerValues, type HttpRequest } from './http-message.ts';
import type { Route } from './routes.ts';
import { accountId } from '../template/template.ts';

const REMOVED_HEADERS =
  /^(?:connection|content-length|expect|keep-alive|proxy-authenticate|server|te|trailer|transfer-encoding|upgrade|www-authenticate|x-forwarded-(?:for|proto))$/i;

interface EventContext {
  apiId: string;
  stage: string;
  route: Route;
  requestId: string;
  authorizer: Record<string, unknown> | undefined;
}

/**
 * Returns the event that API Gateway sends to a function (payload format 1.0). Absent values are `null`. Query
 * parameters are decoded, but the path and its parameters are not. Single-value maps contain each name's last value.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function proxyEvent(
  request: HttpRequest,
  { apiId, stage, route, requestId, authorizer }: EventContext,
) {
  const { method, path, query, body, sourceIp } = request;
  const headers: [string, string][] = [
    ...request.headers.filter(([name]) => !REMOVED_HEADERS.test(name)),
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Proto', 'http'],
  ];
  // URLSearchParams leaves invalid percent-encoding unchanged, so malformed queries reach the function.
  const parameters = [...new URLSearchParams(query)];

  return {
    resource: route.resourcePath,
    path,
    httpMethod: method,
    headers: orNull(Object.fromEntries(headers)),
    multiValueHeaders: orNull(multiValues(headers)),
    queryStringParameters: orNull(Object.fromEntries(parameters)),
    multiValueQueryStringParameters: orNull(multiValues(parameters)),
    pathParameters: orNull(route.pathParameters),
    stageVariables: null,
    requestContext: {
      accountId,
      apiId,
      ...(authorizer && { authorizer }),
      domainName: headerValues(request, 'Host').at(-1) ?? 'localhost',
      extendedRequestId: requestId,
      httpMethod: method,
      identity: { sourceIp, userAgent: headerValues(request, 'User-Agent').at(-1) ?? null },
      // As on a custom domain, the path does not contain the stage.
      path,
      protocol: 'HTTP/1.1',
      requestId,
      requestTimeEpoch: Date.now(),
      resourceId: route.method.ResourceId,
      resourcePath: route.resourcePath,
      stage,
    },
    body: body.length > 0 ? body.toString('utf8') : null,
    isBase64Encoded: false,
  };
}

export function multiValues(pairs: [string, string][]): Record<string, string[]> {
  const values = Object.groupBy(pairs, ([name]) => name) as Record<string, [string, string][]>;
  return Object.fromEntries(
    Object.entries(values).map(([name, group]) => [name, group.map(([, value]) => value)]),
  );
}

export function orNull<T extends object>(collection: T): T | null {
  return Object.keys(collection).length > 0 ? collection : null;
}
