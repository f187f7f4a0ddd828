import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { HttpResponse } from '@smithy/core/transport';
import type { Readable } from 'node:stream';
import { awsJson } from './aws-json.ts';
import { sha256 } from './sha256.ts';

/** Timeout of an attempt. The time includes connecting and reading the complete response. */
const ATTEMPT_MILLISECONDS = 1_500;

const OPENING_BRACE = 0x7b;

/** Reads numbers as bigint, so that an int64 stays exact. */
export const unmarshallOptions = { wrapNumbers: BigInt };

/**
 * Returns a client for a database. The commands of the document client read and write JavaScript values. The commands of
 * `@aws-sdk/client-dynamodb` read and write DynamoDB attribute values. A call makes up to three attempts of 1.5 s with
 * pauses of up to 3 s in total after throttling, or 75 ms after other errors. A call takes up to 7.5 s unless DynamoDB
 * requests longer pauses.
 *
 * @param config settings that differ, such as the endpoint, region and credentials of a local service
 */
export function connect(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    maxAttempts: 3,
    sha256: sha256 as object as Required<DynamoDBClientConfig>['sha256'],
    protocol: awsJson as object as Required<DynamoDBClientConfig>['protocol'],
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: ATTEMPT_MILLISECONDS,
      throwOnRequestTimeout: true,
    },
    // Without `info` and `error`, the SDK prepares no log entries, which would contain client data. With 16 partitions, a
    // list takes a sixth less CPU time.
    logger: { debug(): void {}, warn(): void {} } as Required<DynamoDBClientConfig>['logger'],
    // The SDK spends time on describing its version and features in each request.
    defaultUserAgentProvider: async () => [],
    ...config,
  });
  addMiddleware(client);
  // The SDK copies this object in each call. V8 copies an object that is a prototype faster, because it does not keep the
  // properties in a dictionary. With 16 partitions, a list takes a sixth less CPU time.
  Object.create(client.config);
  // The SDK modifies the options, so it gets a copy.
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...unmarshallOptions } });
}

export const database = connect();

function addMiddleware({ middlewareStack }: DynamoDBClient): void {
  // Reads the complete response within the time limit of the attempt, because `requestTimeout` does not cover the body.
  // Makes the SDK retry if there is no readable response.
  middlewareStack.add(
    (next) => async (args) => {
      const deadline = Date.now() + ATTEMPT_MILLISECONDS;
      try {
        const { response } = (await next(args)) as { response: HttpResponse };
        response.body = await readObject(response.body, deadline);
        return { response, output: undefined as never };
      } catch (error) {
        // The code is kept, because it identifies connection errors.
        const { code } = error as NodeJS.ErrnoException;
        const message = `The database returned no readable response${code ? ` (${code})` : ''}.`;
        throw Object.assign(new Error(message, { cause: error }), { code, $retryable: {} });
      }
    },
    { step: 'deserialize', priority: 'low' },
  );
}

async function readObject(body: Readable, deadline: number): Promise<object> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  body
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', resolve)
    .on('error', reject);
  const stop = () => body.destroy(new Error('The database response did not finish in time.'));
  const timer = setTimeout(stop, deadline - Date.now());
  await promise.finally(() => clearTimeout(timer));
  const bytes = Buffer.concat(chunks);
  if (bytes[0] !== OPENING_BRACE) throw new Error('The database response is not a JSON object.');
  return JSON.parse(bytes.toString());
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

export async function readItem<Item>(
  TableName: string,
  Key: Record<string, unknown>,
  from = database,
): Promise<Item | undefined> {
  const { Item } = await from.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  return Item as Item | undefined;
}

/** Signals a failure other than a database error that a retry can resolve. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** Checks whether a retry can resolve an error, such as a call that the database throttled or that timed out. */
export function isUnavailable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (error instanceof UnavailableError) return true;
  const sdkError = error as Parameters<typeof isThrottlingError>[0];
  return isThrottlingError(sdkError) || isTransientError(sdkError) || isServerError(sdkError);
}
