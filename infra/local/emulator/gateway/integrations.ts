import * as v from 'valibot';
import { headerValues, type HttpRequest, type HttpResponse, NO_CONTENT } from './http-message.ts';
import type { Method } from './routes.ts';

type MockIntegration = Extract<Method['Integration'], { Type: 'MOCK' }>;
type StaticResponse = MockIntegration['IntegrationResponses'][0];

export const scalarAsText = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/** Returns the mock's response, or undefined if the mock does not accept the request's media type. */
export function mockResponse(integration: MockIntegration, request: HttpRequest): HttpResponse | undefined {
  const mediaType = headerValues(request, 'Content-Type').at(-1)?.split(';')[0]?.trim().toLowerCase();
  if (!Object.hasOwn(integration.RequestTemplates, mediaType || 'application/json')) return undefined;
  return staticResponse(integration.IntegrationResponses[0]);
}

/** Converts a mock response or a gateway response in the template to an HTTP response. */
export function staticResponse({
  StatusCode,
  ResponseParameters,
  ResponseTemplates,
}: StaticResponse): HttpResponse {
  const headers = Object.entries(ResponseParameters).map(([parameter, value]) => [
    parameter.split('.').at(-1), // such as Allow in method.response.header.Allow
    value.slice(1, -1),
  ]);
  return {
    status: Number(StatusCode),
    headers: { 'Content-Type': 'application/json', ...Object.fromEntries(headers) },
    body: ResponseTemplates['application/json'],
  };
}

/** Format of a function's result. API Gateway returns a 502 if a result has other fields or types. */
const ProxyResult = v.strictObject({
  statusCode: v.pipe(v.number(), v.integer()),
  headers: v.optional(v.record(v.string(), scalarAsText), {}),
  body: v.optional(v.string(), ''),
  isBase64Encoded: v.optional(v.literal(false)),
});

export function readProxyResult(json: string): HttpResponse | undefined {
  const { success, output } = v.safeParse(ProxyResult, JSON.parse(json));
  if (!success) return undefined;
  const { statusCode, headers, body } = output;
  return {
    status: statusCode,
    headers: {
      ...(statusCode !== NO_CONTENT && { 'Content-Type': 'application/json' }),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [remapped(name), value])),
    },
    body,
  };
}

/** Renames the header WWW-Authenticate, as API Gateway does in the responses of functions. */
function remapped(name: string): string {
  return name.toLowerCase() === 'www-authenticate' ? `x-amzn-Remapped-${name}` : name;
}
