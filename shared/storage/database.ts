import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { getSmithyContext, type HttpResponse } from '@smithy/core/transport';
import type { Readable } from 'node:stream';
import { readResponse, writeRequest } from './aws-json.ts';
import { Sha256 } from './sha256.ts';

type SdkError = Parameters<typeof isThrottlingError>[0];

/** From connecting to the last byte of the response. */
const ATTEMPT_MILLISECONDS = 1_500;

/** The client of all tables, for values as they are on the wire. */
export const client = new DynamoDBClient({
  maxAttempts: 3,
  sha256: Sha256,
  // The bundles lack its cache.
  endpointDiscoveryEnabled: false,
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: ATTEMPT_MILLISECONDS,
    throwOnRequestTimeout: true,
  },
});

/** Numbers are read as bigint, which keeps an int64 exact. */
export const unmarshallOptions = { wrapNumbers: BigInt };

/**
 * The client, for values of JavaScript. A call ends within 7.5 s: three attempts of 1.5 s, and pauses of at most 3 s in
 * all when throttled and 75 ms otherwise, unless DynamoDB asks for longer ones.
 */
export const database = DynamoDBDocumentClient.from(client, {
  // It adds to them.
  unmarshallOptions: { ...unmarshallOptions },
});

// It prepares log entries although there is no logger: a twentieth of the work of a list.
client.middlewareStack.remove('loggerMiddleware');
// Nobody needs to be told of the SDK's version and features with each request.
client.middlewareStack.remove('getUserAgentMiddleware');

client.middlewareStack.add(
  (next, context) => (args) => {
    const { operation } = getSmithyContext(context) as { operation: string };
    return next({ ...args, request: writeRequest(operation, args.input, context.endpointV2!.url) });
  },
  { name: 'serializerMiddleware', step: 'serialize', override: true },
);

// The SDK's `requestTimeout` covers only the head of a response, and it reads an empty response as one without an item.
client.middlewareStack.add(
  (next) => async (args) => {
    const deadline = Date.now() + ATTEMPT_MILLISECONDS;
    const { response } = (await next(args)) as { response: HttpResponse };
    return { response, output: readResponse(response, await wholeBody(response.body, deadline)) };
  },
  { name: 'deserializerMiddleware', step: 'deserialize', override: true },
);

// The SDK would not retry a response that it cannot read.
client.middlewareStack.add(
  (next) => async (args) => {
    try {
      return await next(args);
    } catch (error) {
      if (error instanceof DynamoDBServiceException) throw error;
      // A connection that failed is known by it.
      const { code } = error as NodeJS.ErrnoException;
      const message = `The database gave no readable answer${code ? ` (${code})` : ''}.`;
      throw Object.assign(new Error(message, { cause: error }), { code, $retryable: {} });
    }
  },
  { name: 'retryUnreadableAnswer', step: 'deserialize', priority: 'high' },
);

async function wholeBody(body: Readable, deadline: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  body.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)));
  body.on('error', reject).on('close', () => reject(new Error('The response of the database was cut off.')));
  const endInTime = (): void => {
    reject(new Error('The response of the database did not end in time.'));
    body.destroy();
  };
  const timer = setTimeout(endInTime, deadline - Date.now());
  return promise.finally(() => clearTimeout(timer));
}

/** Whether the condition of a write held: false if DynamoDB refused the write for it, and any other error as it is. */
export async function conditionHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (Error.isError(error) && error.name === 'ConditionalCheckFailedException') return false;
    throw error;
  }
}

export async function readItem<Item>(
  TableName: string,
  Key: Record<string, unknown>,
): Promise<Item | undefined> {
  const { Item } = await database.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  return Item as Item | undefined;
}

/** Whether the database throttled, failed or timed out, so that the client may retry. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  const sdkError = error as SdkError;
  return isThrottlingError(sdkError) || isTransientError(sdkError) || isServerError(sdkError);
}
