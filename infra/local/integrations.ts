import * as v from 'valibot';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { Method } from './routes.ts';
import { RunnerError } from './runner-error.ts';

type MockIntegration = Extract<Method['Integration'], { Type: 'MOCK' }>;

/** A mock answers by the media type of the request, which counts as JSON when it names none. */
export function answerMock(integration: MockIntegration, request: HttpRequest): HttpResponse | undefined {
  const mediaType = headerValues(request, 'Content-Type').at(-1)?.split(';')[0]?.trim().toLowerCase();
  if (!Object.hasOwn(integration.RequestTemplates, mediaType || 'application/json')) return undefined;
  const [response] = integration.IntegrationResponses;
  return {
    status: Number(response.StatusCode),
    headers: {
      'Content-Type': 'application/json',
      ...staticValues(response.ResponseParameters, 'method.response.header.'),
    },
    body: response.ResponseTemplates['application/json'],
  };
}

/** A strict reading: API Gateway answers 502 to a result with any other member or type. */
const ProxyResult = v.strictObject({
  statusCode: v.pipe(v.number(), v.integer()),
  headers: v.optional(
    v.record(v.string(), v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String))),
    {},
  ),
  body: v.optional(v.string(), ''),
  isBase64Encoded: v.optional(v.literal(false)),
});

export function readProxyResult(json: string): HttpResponse | undefined {
  const { success, output } = v.safeParse(ProxyResult, JSON.parse(json));
  if (!success) return undefined;
  const { statusCode, headers, body } = output;
  return { status: statusCode, headers: { 'Content-Type': 'application/json', ...headers }, body };
}

/** Header values of a mapping that are written down, `'in single quotes'`, by header name. */
export function staticValues(parameters: Record<string, string>, prefix: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      if (!name.startsWith(prefix) || !/^'[^']*'$/.test(value)) {
        throw new RunnerError(`The local service does not model the response parameter ${name}: ${value}.`);
      }
      return [name.slice(prefix.length), value.slice(1, -1)];
    }),
  );
}
