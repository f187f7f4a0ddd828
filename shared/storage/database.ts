import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Agent } from 'node:https';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { completeResponses } from './complete-responses.ts';
import { sdkSettings } from './sdk.ts';

/** Options with which the SDK reads numbers as bigints, so that an int64 stays exact. */
export const unmarshallOptions = { wrapNumbers: BigInt };

/**
 * Returns a DynamoDB client for functions. Its commands use typed attribute values, such as `{ S: "cat" }`, instead of
 * JavaScript values. A call makes up to three attempts of 1.5 s. The pauses between attempts take up to 3 s in total
 * after throttling, or 75 ms after other errors. A call takes up to 7.5 s unless DynamoDB requests longer pauses.
 */
export function createClient(): DynamoDBClient {
  return new DynamoDBClient({ ...attemptsOf(1_500), ...sdkSettings });
}

/** Client whose commands read and write JavaScript values. */
export const database = /* @__PURE__ */ withValues(/* @__PURE__ */ createClient());

/**
 * Returns a client for operator commands. The client searches for credentials as the SDK does by default. A call makes
 * up to three attempts of 5 s.
 *
 * @param httpsAgent agent for HTTPS requests, such as the agent of a proxy @default - the SDK's agent
 */
export function connect(config: DynamoDBClientConfig = {}, httpsAgent?: Agent): DynamoDBDocumentClient {
  return withValues(new DynamoDBClient({ ...attemptsOf(5_000, httpsAgent), ...config }));
}

function attemptsOf(milliseconds: number, httpsAgent?: Agent): DynamoDBClientConfig {
  return { maxAttempts: 3, requestHandler: completeResponses(milliseconds, httpsAgent) };
}

function withValues(client: DynamoDBClient): DynamoDBDocumentClient {
  // The SDK modifies the options, so it gets a copy.
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...unmarshallOptions } });
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
 * Returns the item with a key, or undefined if there is none. The read is strongly consistent.
 *
 * @param abortSignal signal that ends the call @default - the call ends when it succeeds or its attempts have failed
 */
export async function readItem<Item>(
  TableName: string,
  Key: Record<string, unknown>,
  from = database,
  abortSignal?: AbortSignal,
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
