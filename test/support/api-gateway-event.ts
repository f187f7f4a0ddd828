import type { APIGatewayProxyEvent } from 'aws-lambda';

export const REQUEST_ID = 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef';
export const STAGE_DOMAIN = 'abc123.execute-api.eu-central-1.amazonaws.com';

type Request = Partial<Omit<APIGatewayProxyEvent, 'requestContext' | 'headers'>> & {
  headers?: Record<string, string> | null;
  requestContext?: Partial<APIGatewayProxyEvent['requestContext']>;
};

/**
 * Returns the event that a REST API sends for a request (payload version 1.0). Absent collections are null. `headers`
 * contains the last value of each header, and `multiValueHeaders` contains all values. `requestContext.path` begins
 * with the stage by default.
 */
export function apiGatewayEvent({ requestContext, ...request }: Request = {}): APIGatewayProxyEvent {
  const path = request.path ?? '/v1/pets';
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

/** Returns the event for `POST /v1/pets`. A string body is used unchanged, and other bodies are converted to JSON. */
export function postPetEvent(body: unknown, request: Request = {}): APIGatewayProxyEvent {
  return apiGatewayEvent({
    httpMethod: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...request,
  });
}

/** Returns the event for `GET /v1/pets/{petId}`. `petId` is the percent-encoded text in the URL. */
export function getPetEvent(petId: string, request: Request = {}): APIGatewayProxyEvent {
  return apiGatewayEvent({ path: `/v1/pets/${petId}`, pathParameters: { petId }, ...request });
}

/** Returns the event for `GET /v1/pets`. `query` contains all values of each query parameter. */
export function listPetsEvent(query: Record<string, string[]>, request: Request = {}): APIGatewayProxyEvent {
  return apiGatewayEvent({
    queryStringParameters: mapValues(query, (values) => values.at(-1)),
    multiValueQueryStringParameters: query,
    ...request,
  });
}

function mapValues<T, U>(map: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}
