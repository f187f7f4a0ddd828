import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand, type PutCommandInput } from '@aws-sdk/lib-dynamodb';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { HttpRequest, HttpResponse } from '@smithy/core/transport';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Agent } from 'node:https';

/**
 * Client of the functions. A call makes up to three attempts of 1.5 s. The pauses between attempts take up to 3 s in
 * total after throttling, or 75 ms after other errors. A call takes up to 7.5 s unless DynamoDB requests longer pauses.
 */
export const database = /* @__PURE__ */ createClient(1_500);

/**
 * Returns a client for operator commands. A call makes up to three attempts of 5 s.
 *
 * @param httpsAgent agent for HTTPS requests, such as the agent of a proxy @default - the SDK's agent
 */
export function connect(config: DynamoDBClientConfig = {}, httpsAgent?: Agent): DynamoDBDocumentClient {
  return createClient(5_000, config, httpsAgent);
}

/** Returns a client whose attempts end after a time, and which reads numbers as bigints, so that an int64 stays exact. */
function createClient(milliseconds: number, config: DynamoDBClientConfig = {}, httpsAgent?: Agent) {
  const requestHandler = wholeResponses(milliseconds, httpsAgent);
  const client = new DynamoDBClient({ maxAttempts: 3, requestHandler, ...config });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { wrapNumbers: BigInt } });
}

/**
 * Returns a request handler that reads the whole response within the time of an attempt. The time-outs of the SDK's own
 * handler end with the headers or count idle time, so a response that drips would never end. The SDK also reads an
 * empty response as an item that does not exist.
 *
 * @param milliseconds time for an attempt, including connecting and reading the response
 */
function wholeResponses(milliseconds: number, httpsAgent?: Agent) {
  const handler = new NodeHttpHandler(httpsAgent ? { httpsAgent } : {});
  return {
    /**
     * @throws TimeoutError, which the SDK retries, if no whole response arrives in time. Its `cause` is the reason, and its
     *   `code` that of a connection error, such as `ECONNRESET`.
     */
    async handle(
      request: HttpRequest,
      { abortSignal }: { abortSignal?: AbortSignal } = {},
    ): Promise<{ response: HttpResponse }> {
      abortSignal?.throwIfAborted();
      // AbortSignal.any and AbortSignal.timeout would take more CPU time than the signature of a request.
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), milliseconds);
      const abort = () => deadline.abort();
      abortSignal?.addEventListener('abort', abort);
      let cause: Error & { code?: string } = new Error('an empty response');
      try {
        const { response } = await handler.handle(request, { abortSignal: deadline.signal });
        response.body = Buffer.concat(await Array.fromAsync<Buffer>(response.body));
        if (response.body.length > 0) return { response };
      } catch (error) {
        if (abortSignal?.aborted) throw error;
        cause = deadline.signal.aborted ? new Error(`more than ${milliseconds} ms`) : (error as Error);
      } finally {
        clearTimeout(timer);
        abortSignal?.removeEventListener('abort', abort);
      }
      const { code, message } = cause;
      const text = `The database sent no whole response (${code ?? message}).`;
      throw Object.assign(new Error(text, { cause }), { name: 'TimeoutError', code });
    },

    destroy: () => handler.destroy(),
  };
}

/** Returns true if the write succeeds, or false if its condition check fails. All other errors are thrown. */
export async function conditionHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (Error.isError(error) && error.name === 'ConditionalCheckFailedException') return false;
    throw error;
  }
}

/**
 * Stores an item if a condition holds. Otherwise, returns the stored item with the same key. It can be the item that this
 * call itself has stored: if the response to the write is lost, the SDK retries the write, and the condition of the retry
 * fails.
 *
 * @param put item and condition. The condition holds if there is no item with the key.
 * @param abortSignal signal that ends the calls. No call starts after it is aborted.
 * @returns undefined if the item was stored
 * @throws UnavailableError if the condition failed, but there is no item. Only TTL or a manual delete can have removed it.
 */
export async function putOrRead<Item>(
  put: PutCommandInput,
  Key: Record<string, unknown>,
  abortSignal: AbortSignal,
): Promise<Item | undefined> {
  if (await conditionHolds(database.send(new PutCommand(put), { abortSignal }))) return undefined;
  const stored = await readItem<Item>(put.TableName!, Key, { abortSignal });
  if (stored) return stored;
  throw new UnavailableError(`An item of ${put.TableName} was deleted during the call.`);
}

/**
 * Returns the item with a key, or undefined if there is none. The read is strongly consistent.
 *
 * @param options.abortSignal signal that ends the call @default - the call ends when it succeeds or its attempts have failed
 */
export async function readItem<Item>(
  TableName: string,
  Key: Record<string, unknown>,
  { from = database, abortSignal }: { from?: DynamoDBDocumentClient; abortSignal?: AbortSignal } = {},
): Promise<Item | undefined> {
  const get = new GetCommand({ TableName, Key, ConsistentRead: true });
  const { Item } = await from.send(get, abortSignal && { abortSignal });
  return Item as Item | undefined;
}

/** Error that a retry can resolve, but that does not come from the database. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** Returns whether a retry can resolve an error, such as a throttled database call or a timeout. */
export function isUnavailable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (error instanceof UnavailableError) return true;
  const sdkError = error as Parameters<typeof isThrottlingError>[0];
  return isThrottlingError(sdkError) || isTransientError(sdkError) || isServerError(sdkError);
}
