import * as v from 'valibot';
import { headerValues, type HttpRequest, type HttpResponse, NO_CONTENT } from './http-message.ts';
import type { Method } from './routes.ts';

type MockIntegration = Extract<Method['Integration'], { Type: 'MOCK' }>;
type StaticResponse = MockIntegration['IntegrationResponses'][0];

export const scalarAsText = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/** The response to a request whose media type is listed; a request without one counts as JSON. */
export function mockResponse(integration: MockIntegration, request: HttpRequest): HttpResponse | undefined {
  const mediaType = headerValues(request, 'Content-Type').at(-1)?.split(';')[0]?.trim().toLowerCase();
  if (!Object.hasOwn(integration.RequestTemplates, mediaType || 'application/json')) return undefined;
  return staticResponse(integration.IntegrationResponses[0]);
}

/** A response that the template defines: of a mock, or of API Gateway itself. */
export function staticResponse({
  StatusCode,
  ResponseParameters,
  ResponseTemplates,
}: StaticResponse): HttpResponse {
  const headers = Object.entries(ResponseParameters).map(([parameter, value]) => [
    parameter.split('.').at(-1), // of method.response.header.Allow, for example
    value.slice(1, -1),
  ]);
  return {
    status: Number(StatusCode),
    headers: { 'Content-Type': 'application/json', ...Object.fromEntries(headers) },
    body: ResponseTemplates['application/json'],
  };
}

/** API Gateway responds 502 to a result with any other member or type. */
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

/** API Gateway renames this header of a function. */
function remapped(name: string): string {
  return name.toLowerCase() === 'www-authenticate' ? `x-amzn-Remapped-${name}` : name;
}
