import type { HttpRequest, HttpResponse } from '@smithy/core/transport';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Agent } from 'node:https';

/**
 * Returns a request handler for clients of the SDK, as the SDK's interface `HttpHandler` specifies it. The handler
 * sends requests with the SDK's own handler, but accepts only complete responses. The SDK's own handler can limit the
 * time until a response starts, but not the time until it ends. If a response ends early without an error of the
 * connection, the SDK does not retry. The SDK reads an empty response as an item that does not exist.
 *
 * @param milliseconds time for an attempt, including connecting and reading the complete response
 * @param httpsAgent agent for HTTPS requests @default - the SDK's agent
 */
export function completeResponses(milliseconds: number, httpsAgent?: Agent) {
  const handler = new NodeHttpHandler({ connectionTimeout: 1_000, ...(httpsAgent && { httpsAgent }) });
  return {
    /**
     * Sends a request, and returns the response with its complete body.
     *
     * @throws Error that the SDK retries, if no complete response arrives in time. The error's message names the
     *   reason. If `abortSignal` is aborted, the error is that of the SDK's own handler.
     */
    async handle(
      request: HttpRequest,
      { abortSignal }: { abortSignal?: AbortSignal } = {},
    ): Promise<{ response: HttpResponse }> {
      const limit = new AbortController();
      // The handler does not use AbortSignal.timeout, because tests cannot control its timer.
      const timer = setTimeout(() => limit.abort(new Error(`more than ${milliseconds} ms`)), milliseconds);
      const signal = abortSignal ? AbortSignal.any([abortSignal, limit.signal]) : limit.signal;
      try {
        const { response } = await handler.handle(request, { abortSignal: signal });
        response.body = Buffer.concat(await Array.fromAsync<Buffer>(response.body));
        requireJsonObject(response);
        return { response };
      } catch (error) {
        if (abortSignal?.aborted) throw error;
        throw incompleteResponse(limit.signal.aborted ? limit.signal.reason : error);
      } finally {
        clearTimeout(timer);
      }
    },

    destroy(): void {
      handler.destroy();
    },
  };
}

type IncompleteResponse = Error & {
  /** Name of a connection error, such as `ECONNRESET`. */
  code?: string | undefined;
  $metadata?: { httpStatusCode: number; requestId?: string } | undefined;
};

/**
 * Checks that the body is a JSON object, as in every response of DynamoDB.
 *
 * @throws IncompleteResponse if it is not. The error quotes no part of the body, because the body can contain personal
 *   data.
 */
function requireJsonObject({ statusCode, headers, body }: HttpResponse): void {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  } catch {}
  const reason = new Error(`status ${statusCode}, ${body.length} bytes, not a JSON object`);
  throw Object.assign(reason, {
    $metadata: { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid'] },
  });
}

/** Returns an error that the SDK retries because of `$retryable`. If the retries fail too, clients get a 503. */
function incompleteResponse(cause: IncompleteResponse): IncompleteResponse {
  const { code, $metadata } = cause;
  const message = `The database sent no complete response (${code ?? cause.message}).`;
  return Object.assign(new Error(message, { cause }), { code, $metadata, $retryable: {} });
}
