import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import type { Method } from './routes.ts';
import type { Template } from '../template/template.ts';

type MockIntegration = Extract<Method['Integration'], { Type: 'MOCK' }>;

const json = { 'Content-Type': 'application/json' };

/**
 * Default status and message of each gateway response, for stacks whose template does not define the response.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const defaultResponses: Record<string, [status: number, message: string]> = {
  ACCESS_DENIED: [403, 'User is not authorized to access this resource'],
  AUTHORIZER_CONFIGURATION_ERROR: [500, 'Internal server error'],
  DEFAULT_5XX: [502, 'Internal server error'],
  MISSING_AUTHENTICATION_TOKEN: [403, 'Missing Authentication Token'],
  REQUEST_TOO_LARGE: [413, 'Request Too Large'],
  UNAUTHORIZED: [401, 'Unauthorized'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Unsupported Media Type'],
};

/** Returns a function that adds the request id to a response, or to the gateway response of a given type. */
export function readGatewayResponses(template: Template) {
  const defined = template.resources('AWS::ApiGateway::GatewayResponse').map(({ properties }) => properties);
  const find = (type: string) => defined.find(({ ResponseType }) => ResponseType === type);

  function gatewayResponse(type: string, requestId: string): HttpResponse {
    const [status, message] = defaultResponses[type] ?? [400, 'Bad Request'];
    const custom = find(type) ?? find(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX');
    if (!custom) return { status, headers: json, body: JSON.stringify({ message }) };
    const response = staticResponse(custom);
    return { ...response, body: response.body.replaceAll('$context.requestId', requestId) };
  }

  return (outcome: HttpResponse | string, requestId: string = randomUUID()): HttpResponse => {
    const response = typeof outcome === 'string' ? gatewayResponse(outcome, requestId) : outcome;
    return { ...response, headers: { ...response.headers, 'x-amzn-RequestId': requestId } };
  };
}

/** Returns the mock's response, or undefined if the mock does not accept the request's media type. */
export function mockResponse(mock: MockIntegration, request: HttpRequest): HttpResponse | undefined {
  const mediaType = headerValues(request, 'Content-Type').at(-1)?.split(';')[0]?.trim().toLowerCase();
  if (!Object.hasOwn(mock.RequestTemplates, mediaType || 'application/json')) return undefined;
  return staticResponse(mock.IntegrationResponses[0]);
}

function staticResponse(response: MockIntegration['IntegrationResponses'][0]): HttpResponse {
  const headers = Object.entries(response.ResponseParameters).map(([parameter, value]) => [
    parameter.split('.').at(-1), // such as Allow in method.response.header.Allow
    value.slice(1, -1),
  ]);
  return {
    status: Number(response.StatusCode),
    headers: { ...json, ...Object.fromEntries(headers) },
    body: response.ResponseTemplates['application/json'],
  };
}

export const scalarAsText = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/** API Gateway renames `WWW-Authenticate` in the responses of functions. */
const headerName = v.pipe(
  v.string(),
  v.transform((name) => name.replace(/^www-authenticate$/i, 'x-amzn-Remapped-$&')),
);

/** Converts a function's result to a response. API Gateway rejects results with additional fields or wrong types. */
export const ProxyResult = v.pipe(
  v.strictObject({
    statusCode: v.pipe(v.number(), v.integer()),
    headers: v.optional(v.record(headerName, scalarAsText), {}),
    body: v.optional(v.string(), ''),
    isBase64Encoded: v.optional(v.literal(false)),
  }),
  v.transform(({ statusCode: status, headers, body }): HttpResponse => {
    return { status, headers: { ...(status !== 204 && json), ...headers }, body };
  }),
);

/** Returns the result of the function in `uri`, or undefined if the function fails or the result violates `schema`. */
export async function invoke<T>(
  functions: Map<string, LambdaFunction>,
  uri: string,
  event: object,
  schema: v.GenericSchema<unknown, T>,
): Promise<T | undefined> {
  const [, logicalId = ''] = /:function:(\w+)/.exec(uri) ?? [];
  const { result = 'null', error } = await functions.get(logicalId)!.invoke(event);
  const { success, output } = v.safeParse(schema, JSON.parse(result));
  if (!success && !error) console.error(`${logicalId}: malformed result`);
  return success ? output : undefined;
}
