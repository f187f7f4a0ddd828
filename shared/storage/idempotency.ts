import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { hash } from 'node:crypto';
import { conditionHolds, database, readItem, UnavailableError } from './database.ts';
import { environmentVariables, pascalCase, requireEnvironment } from '../names.ts';
import { type Collection, fieldsOf } from '../contract/collection.ts';
import { stringifyJson } from '../contract/json.ts';
import { IDEMPOTENCY_HOURS } from '../contract/limits.ts';

/**
 * Time for which a record stays valid after the promised `IDEMPOTENCY_HOURS`. A retry that a client sends at the last
 * moment reaches the function later, for example after a cold start, and the clocks of two instances can differ by
 * minutes.
 */
const GRACE_SECONDS = 600;

/** Idempotency record. The attribute that `idAttribute` names contains the id that all retries use until the expiry. */
interface IdempotencyRecord {
  token: string;
  /** Digest of each field that was known to the version of the function that stored the record. */
  fields: Record<string, string>;
  /** Seconds since 1970, as DynamoDB's TTL requires. */
  expiresAt: number;
}

/**
 * Returns the hexadecimal SHA-256 of an idempotency key and its scope, which is an operation and an API key with all
 * keys that replaced it in rotations.
 *
 * @param firstKeyId id of the client's API key or, after rotations, of the key that was issued
 * @throws Error if the key id is missing, because different clients would then share idempotency keys.
 */
export function tokenOf(operation: string, firstKeyId: string | undefined, idempotencyKey: string): string {
  if (!firstKeyId)
    throw new Error(
      'An Idempotency-Key requires an API key id. Add the authorizer to the route in infra/stack/api.ts.',
    );
  return hash('sha256', stringifyJson([firstKeyId, operation, idempotencyKey]));
}

/**
 * Returns the id that all retries of a request use, or undefined if the token was used for a different item. After a
 * deployment or a rollback, a retry can reach a version that knows different fields than the version that received the
 * first request. Such a retry requests the same item if all fields that both versions know are equal.
 *
 * @param newItem item in the request
 * @param proposed id to claim if there is no unexpired record, or if the record contains `taken`
 * @param signal signal that ends the database calls
 * @param taken previously claimed id that belongs to a different item and can be replaced
 * @throws UnavailableError if the idempotency record is deleted while this function runs.
 */
export async function claimId(
  collection: Collection,
  token: string,
  newItem: object,
  proposed: bigint,
  signal: AbortSignal,
  taken = 0n,
): Promise<bigint | undefined> {
  const attribute = idAttribute(collection);
  const fields = digestsOf(collection, newItem);
  const now = Math.floor(Date.now() / 1_000);
  const TableName = requireEnvironment(environmentVariables.idempotencyTable);
  const expiresAt = now + IDEMPOTENCY_HOURS * 3_600 + GRACE_SECONDS;
  const Item: IdempotencyRecord = { token, fields, expiresAt, [attribute]: proposed };
  const put = new PutCommand({
    TableName,
    Item,
    // TTL deletes items late, so the condition also checks `expiresAt`. No record contains the id 0, so with the default of
    // `taken`, the third condition never holds.
    ConditionExpression: 'attribute_not_exists(#id) OR expiresAt < :now OR #id = :taken',
    ExpressionAttributeNames: { '#id': attribute },
    ExpressionAttributeValues: { ':now': now, ':taken': taken },
  });
  if (await conditionHolds(database.send(put, { abortSignal: signal }))) return proposed;

  type AnyRecord = IdempotencyRecord & Record<string, bigint>;
  const earlier = await readItem<AnyRecord>(TableName, { token }, database, signal);
  // The record existed when the condition check failed, so only TTL or a manual delete can have removed the record.
  if (!earlier) throw new UnavailableError('The idempotency record was deleted.');
  const isSameItem = Object.entries(earlier.fields).every(
    ([name, digest]) => (fields[name] ?? digest) === digest,
  );
  return isSameItem ? earlier[attribute] : undefined;
}

/** Returns the name of the attribute with an item's id in an idempotency record, such as `bookId`. */
function idAttribute({ singular }: Collection): string {
  const name = pascalCase(singular);
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}Id`;
}

/** Returns a digest of each field that a new item can have. The digest of an absent field is empty. */
function digestsOf(collection: Collection, newItem: object): Record<string, string> {
  const values: Record<string, unknown> = { ...newItem };
  const names = fieldsOf(collection).filter((name) => name !== 'id');
  return Object.fromEntries(names.map((name) => [name, digestOf(values[name])]));
}

/**
 * Returns 96 bits of a value's SHA-256. More are not needed, because a client that finds two values with the same
 * digest can confuse only retries with its own idempotency keys.
 */
function digestOf(value: unknown): string {
  return value === undefined ? '' : hash('sha256', stringifyJson(value), 'base64url').slice(0, 16);
}
