import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { hash } from 'node:crypto';
import { conditionHolds, database, readItem, UnavailableError } from './database.ts';
import { environmentVariables, requireEnvironment } from '../names.ts';
import { stringifyJson } from '../contract/json.ts';
import { IDEMPOTENCY_HOURS } from '../contract/limits.ts';

/** Idempotency record. It also has the id that all retries of a request use until the idempotency key expires. */
interface IdempotencyRecord {
  token: string;
  /** Hexadecimal SHA-256 of the requested item. */
  fingerprint: string;
  expiresAt: number;
}

/**
 * Returns the hexadecimal SHA-256 of an idempotency key and its scope, which is an API key and an operation.
 *
 * @param keyId id of the client's API key
 * @throws Error if the key id is missing, because different clients would then share idempotency keys.
 */
export function tokenOf(operation: string, keyId: string | undefined, idempotencyKey: string): string {
  if (!keyId) throw new Error('The route needs the authorizer: an Idempotency-Key requires an API key id.');
  return hash('sha256', stringifyJson([keyId, operation, idempotencyKey]));
}

/**
 * Returns the id that all retries of a request use, or undefined if the token was used for a different item.
 *
 * @param attribute name of the record's attribute that contains the id, such as `bookId`
 * @param newItem item in the request
 * @param proposed id to claim if there is no unexpired record, or if the record contains `taken`
 * @param taken previously claimed id that belongs to a different item and can be replaced
 * @throws UnavailableError if the idempotency record is deleted while this function runs.
 */
export async function claimId(
  attribute: string,
  token: string,
  newItem: object,
  proposed: bigint,
  taken = 0n,
): Promise<bigint | undefined> {
  const fields = Object.entries(newItem).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const fingerprint = hash('sha256', stringifyJson(fields));
  const now = Math.floor(Date.now() / 1_000);
  const TableName = requireEnvironment(environmentVariables.idempotencyTable);
  const expiresAt = now + IDEMPOTENCY_HOURS * 3_600;
  const Item: IdempotencyRecord = { token, fingerprint, expiresAt, [attribute]: proposed };
  const put = new PutCommand({
    TableName,
    Item,
    // TTL deletes items late, so the condition also checks `expiresAt`. No item has the id 0, the default of `taken`.
    ConditionExpression: 'attribute_not_exists(#id) OR expiresAt < :now OR #id = :taken',
    ExpressionAttributeNames: { '#id': attribute },
    ExpressionAttributeValues: { ':now': now, ':taken': taken },
  });
  if (await conditionHolds(database.send(put))) return proposed;

  const earlier = await readItem<IdempotencyRecord & Record<string, bigint>>(TableName, { token });
  // The record existed when the condition check failed, so only TTL or a manual delete can have removed the record.
  if (!earlier) throw new UnavailableError('The idempotency record was deleted.');
  return earlier.fingerprint === fingerprint ? earlier[attribute] : undefined;
}
