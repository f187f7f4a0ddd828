import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';

type SdkError = Parameters<typeof isThrottlingError>[0];

/**
 * The one client of every table. Numbers are read as bigint, which keeps an int64 exact.
 *
 * A call takes at most three attempts of 1.5 s, connecting included, and short pauses between them: some 5 s, of the
 * 10 s a function has. A healthy one takes milliseconds. What bounds a request of several calls is its endpoint.
 */
export const database = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_500, throwOnRequestTimeout: true },
  }),
  {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: { wrapNumbers: BigInt },
  },
);

/** Whether the database throttled, failed or did not answer in time, so that the request may be repeated. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const sdkError = error as SdkError;
  return isThrottlingError(sdkError) || isTransientError(sdkError) || isServerError(sdkError);
}
