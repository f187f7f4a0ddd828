import { hash } from 'node:crypto';
import { ApiError } from '../contract/errors.ts';
import { stringifyJson } from '../contract/json.ts';
import { IDEMPOTENCY_HOURS } from '../contract/limits.ts';
import { environmentVariables, requireEnvironment } from '../names.ts';
import { putOrRead } from './database.ts';

/**
 * Seconds for which a record stays valid after the promised `IDEMPOTENCY_HOURS`. A retry that a client sends at the last
 * moment reaches the function later, for example after a cold start, and the clocks of two instances can differ by
 * minutes.
 */
const GRACE_SECONDS = 900;

/** A request with an `Idempotency-Key`. Its retries have the same intent. */
export interface Intent {
  /** Hexadecimal SHA-256 of the key and its scope, which is an operation and a client. */
  token: string;
  /** Hexadecimal SHA-256 of the body as it was sent. */
  fingerprint: string;
}

/** Item of the table of idempotency records. All retries use its `itemId` until it expires. */
interface IdempotencyRecord extends Intent {
  itemId: bigint;
  /** Seconds since 1970, as DynamoDB's TTL requires. */
  expiresAt: number;
}

/** The parts of a request that its intent depends on. */
interface CreateRequest {
  headers: { 'Idempotency-Key'?: string };
  rawBody: Buffer;
  firstKeyId: string | undefined;
}

/**
 * Returns the intent of a request, or undefined if the request has no `Idempotency-Key`.
 *
 * @throws Error if the id of the API key is missing, because different clients would then share idempotency keys.
 */
export function intentOf(
  operationId: string,
  { headers, rawBody, firstKeyId }: CreateRequest,
): Intent | undefined {
  const idempotencyKey = headers['Idempotency-Key'];
  if (idempotencyKey === undefined) return undefined;
  if (!firstKeyId)
    throw new Error('The request has an Idempotency-Key, but the authorizer returned no firstKeyId.');
  return {
    token: hash('sha256', stringifyJson([firstKeyId, operationId, idempotencyKey])),
    fingerprint: hash('sha256', rawBody),
  };
}

/**
 * Returns the id that all requests with an intent use. If the response to the claim is lost, the SDK's retry finds the
 * record of the first attempt, and returns its id.
 *
 * @param proposed id to claim if there is no unexpired record, or if the record contains `taken`
 * @param signal signal that ends the database calls
 * @param taken previously claimed id that belongs to a different item and is replaced @default - no id is replaced
 * @throws ApiError `idempotency_key_reused` if the `Idempotency-Key` was used with another body
 * @throws UnavailableError if the record is deleted while this function runs
 */
export async function claimId(
  intent: Intent,
  proposed: bigint,
  signal: AbortSignal,
  taken = 0n, // newId never returns 0
): Promise<bigint> {
  const now = Math.floor(Date.now() / 1_000);
  const expiresAt = now + IDEMPOTENCY_HOURS * 3_600 + GRACE_SECONDS;
  const record: IdempotencyRecord = { ...intent, itemId: proposed, expiresAt };
  const put = {
    TableName: requireEnvironment(environmentVariables.idempotencyTable),
    Item: record,
    // TTL deletes items late, so the condition also checks `expiresAt`.
    ConditionExpression: 'attribute_not_exists(itemId) OR expiresAt < :now OR itemId = :taken',
    ExpressionAttributeValues: { ':now': now, ':taken': taken },
  };
  const earlier = await putOrRead<IdempotencyRecord>(put, { token: intent.token }, signal);
  if (!earlier) return proposed;
  if (earlier.fingerprint !== intent.fingerprint) throw new ApiError('idempotency_key_reused');
  return earlier.itemId;
}
