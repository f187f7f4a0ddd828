import * as v from 'valibot';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import { scalarAsText } from '../template/resources.ts';
import type { Method } from './routes.ts';

type MockIntegration = Extract<Method['Integration'], { Type: 'MOCK' }>;
type StaticResponse = MockIntegration['IntegrationResponses'][0];

/** A mock answers by the media type of the request, which counts as JSON when it names none. */
export function answerMock(integration: MockIntegration, request: HttpRequest): HttpResponse | undefined {
  const mediaType = headerValues(request, 'Content-Type').at(-1)?.split(';')[0]?.trim().toLowerCase();
  if (!Object.hasOwn(integration.RequestTemplates, mediaType || 'application/json')) return undefined;
  return staticResponse(integration.IntegrationResponses[0]);
}

/** An answer that is written down in the template, as those of mocks and of API Gateway itself are. */
export function staticResponse({
  StatusCode,
  ResponseParameters,
  ResponseTemplates,
}: StaticResponse): HttpResponse {
  return {
    status: Number(StatusCode),
    headers: { 'Content-Type': 'application/json', ...ResponseParameters },
    body: ResponseTemplates['application/json'],
  };
}

/** A strict reading: API Gateway answers 502 to a result with any other member or type. */
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
      'Content-Type': 'application/json',
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [remapped(name), value])),
    },
    body,
  };
}

/** API Gateway renames this header when it comes from a function. */
function remapped(name: string): string {
  return name.toLowerCase() === 'www-authenticate' ? `x-amzn-Remapped-${name}` : name;
}
