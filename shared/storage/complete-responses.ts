import type { HttpRequest, HttpResponse } from '@smithy/core/transport';
import { NodeHttpHandler } from '@smithy/node-http-handler';

/**
 * Returns a request handler for clients of the SDK. It sends requests with the SDK's handler, but accepts only complete
 * responses. The SDK alone limits the time until a response starts, not until it ends. It does not retry after a
 * truncated response, and it reads an empty response as an item that does not exist.
 *
 * @param milliseconds time for an attempt, including connecting and reading the complete response
 */
export function completeResponses(milliseconds: number) {
  const handler = new NodeHttpHandler({ connectionTimeout: 1_000 });
  return {
    /** @throws Error that the SDK retries, if no complete response arrives in time. Its `cause` is the reason. */
    async handle(request: HttpRequest): Promise<{ response: HttpResponse }> {
      const attempt = new AbortController();
      const timer = setTimeout(
        () => attempt.abort(new Error(`The limit is ${milliseconds} ms.`)),
        milliseconds,
      );
      try {
        const { response } = await handler.handle(request, { abortSignal: attempt.signal });
        response.body = Buffer.concat(await Array.fromAsync<Buffer>(response.body));
        requireJsonObject(response.body);
        return { response };
      } catch (error) {
        throw incompleteResponse(attempt.signal.aborted ? attempt.signal.reason : error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** @throws Error if `body` is empty, truncated or anything else that DynamoDB does not send */
function requireJsonObject(body: Buffer): void {
  const value: unknown = JSON.parse(body.toString());
  if (typeof value !== 'object' || value === null) throw new Error('The response is not a JSON object.');
}

/** `$retryable` makes the SDK retry, and clients get a 503 if the retries fail too. `code` names a connection error. */
function incompleteResponse(cause: NodeJS.ErrnoException): Error {
  const { code } = cause;
  const message = `The database sent no complete response${code ? ` (${code})` : ''}.`;
  return Object.assign(new Error(message, { cause }), { code, $retryable: {} });
}
