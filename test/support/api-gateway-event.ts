import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { ExampleRequest } from './openapi-document.ts';

export const REQUEST_ID = 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef';
export const STAGE_DOMAIN = 'abc123.execute-api.eu-central-1.amazonaws.com';

type Request = Partial<Omit<APIGatewayProxyEvent, 'requestContext' | 'headers'>> & {
  headers?: Record<string, string> | null;
  requestContext?: Partial<APIGatewayProxyEvent['requestContext']>;
};

/**
 * Returns the event with which a REST API invokes a function. Headers and parameters are null if the request has none.
 * `headers` contains the last value of each header, and `multiValueHeaders` contains all values. By default,
 * `requestContext.path` begins with the name of the stage.
 */
export function apiGatewayEvent({ requestContext, ...request }: Request = {}): APIGatewayProxyEvent {
  const path = request.path ?? '/v1/books';
  const { multiValueHeaders, headers } = request;
  return {
    resource: path,
    path,
    httpMethod: 'GET',
    headers: multiValueHeaders ? mapValues(multiValueHeaders, (values) => values?.at(-1)) : null,
    multiValueHeaders: headers ? mapValues(headers, (value) => [value]) : null,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    stageVariables: null,
    body: null,
    isBase64Encoded: false,
    ...request,
    requestContext: {
      requestId: REQUEST_ID,
      domainName: STAGE_DOMAIN,
      stage: 'staging',
      path: `/staging${path}`,
      ...requestContext,
    },
  } as unknown as APIGatewayProxyEvent;
}

/**
 * Returns the event of a create request with an API key that can write. Converts the body to JSON unless it is a string.
 */
export function createEvent(body: unknown, request: Request = {}): APIGatewayProxyEvent {
  const authorizer = { canWrite: 'true', ...request.requestContext?.authorizer };
  return apiGatewayEvent({
    httpMethod: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...request,
    requestContext: { ...request.requestContext, authorizer },
  });
}

/** Returns the event of a list request. `query` contains all values of each query parameter. */
export function listEvent(query: Record<string, string[]>, request: Request = {}): APIGatewayProxyEvent {
  return apiGatewayEvent({
    queryStringParameters: mapValues(query, (values) => values.at(-1)),
    multiValueQueryStringParameters: query,
    ...request,
  });
}

/** Returns the event of an operation's documented example request. */
export function exampleEvent(example: ExampleRequest, request: Request = {}): APIGatewayProxyEvent {
  const { method, target, pathParameters, headers, body = null } = example;
  const { pathname, searchParams } = new URL(target, `https://${STAGE_DOMAIN}`);
  const query = mapValues(Object.fromEntries(searchParams), (value) => [value]);
  const event = { httpMethod: method, path: pathname, pathParameters, body };
  return listEvent(query, { ...event, ...request, headers: { ...headers, ...request.headers } });
}

function mapValues<T, U>(map: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}
