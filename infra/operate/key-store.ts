import { type DynamoDBDocumentClient, paginateQuery, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import {
  type ApiKeyRecord,
  type IssuedKey,
  type NewKey,
  auditLine,
  newApiKey,
  stateOf,
  timeAfter,
} from '../../shared/api-keys.ts';
import { conditionHolds, readItem } from '../../shared/storage/database.ts';
import { keyIndex } from '../../shared/names.ts';
import { plain, UsageError } from '../command.ts';

/** Table with the API keys of a stage, and the client that reads and writes it. */
export interface KeyStore {
  stage: string;
  table: string;
  database: DynamoDBDocumentClient;
}

// After an interruption at any point, each function of this file can safely be called again. All durations are in
// milliseconds.

// Pages are small, because reading a page of the default size, 1 MB, could exceed the client's timeout.
const ITEMS_PER_PAGE = 200;

/** Returns whether a text has the form of a key's id. */
export function isKeyId(text: string): boolean {
  return /^key_[0-9a-f]+$/.test(text);
}

/**
 * Issues a key. If `show` fails, or if it is unknown whether the key was stored, revokes the key.
 *
 * @param show a function that shows the key to the operator
 * @throws UsageError that contains the key's state, or the database's error if the database rejects the first attempt
 */
export async function issueApiKey(
  store: KeyStore,
  newKey: NewKey,
  show?: (issued: IssuedKey) => Promise<void>,
): Promise<IssuedKey> {
  const issued = newApiKey(store.stage, newKey);
  const put = new PutCommand({
    TableName: store.table,
    Item: issued.record,
    // A delayed retry must not undo a revocation or rotation.
    ConditionExpression: 'attribute_not_exists(revokedAt) AND attribute_not_exists(rotatedBy)',
  });
  try {
    if (!(await conditionHolds(store.database.send(put))))
      throw new Error('Another command revoked or rotated the key.');
    await show?.(issued);
    return issued;
  } catch (error) {
    const { $fault, $metadata, message } = error as Partial<DynamoDBServiceException> & Error;
    // The database rejected the only attempt, so the key is not stored.
    if ($fault === 'client' && $metadata?.attempts === 1) throw error;
    // The key is revoked, because the operator did not get it. Even if the write failed, an attempt whose response was
    // lost may have stored the key.
    const outcome = await revokeUndeliveredKey(store, issued.record, newKey.caller);
    throw new UsageError(`${outcome} ${message}`, { cause: error });
  }
}

/**
 * Yields the records of a stage's keys, newest key first. If `keyId` is set, yields only the record of that key. New records
 * can be missing, because the index is eventually consistent.
 */
export async function* listApiKeys({ stage, table, database }: KeyStore, keyId?: string) {
  const pages = paginateQuery(
    { client: database, pageSize: ITEMS_PER_PAGE },
    {
      TableName: table,
      IndexName: keyIndex.indexName,
      KeyConditionExpression: `#stage = :stage${keyId ? ` AND ${keyIndex.sortKey} = :keyId` : ''}`,
      ExpressionAttributeNames: { '#stage': keyIndex.partitionKey },
      ExpressionAttributeValues: { ':stage': stage, ':keyId': keyId },
      ScanIndexForward: false,
    },
  );
  for await (const { Items = [] } of pages) yield* Items as ApiKeyRecord[];
}

/** Returns the current record of a key. @throws UsageError if the list of keys does not contain the key */
export async function findApiKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const [listed] = await Array.fromAsync(listApiKeys(store, keyId));
  // The index is eventually consistent, so the current record is read from the table.
  const record =
    listed && (await readItem<ApiKeyRecord>(store.table, { hash: listed.hash }, { from: store.database }));
  if (record) return record;
  throw new UsageError(
    `There is no key ${keyId} in this stage. If the key is new, run the command again after a few seconds.`,
  );
}

/** Revokes a key permanently and returns its record. A key that is already revoked does not change. */
export async function revokeApiKey(
  { table, database }: Pick<KeyStore, 'table' | 'database'>,
  { keyId, hash }: Pick<ApiKeyRecord, 'keyId' | 'hash'>,
  caller: string,
): Promise<ApiKeyRecord> {
  const revokedBy = auditLine('revoke', keyId, caller);
  const update = new UpdateCommand({
    TableName: table,
    Key: { hash },
    UpdateExpression: 'SET revokedAt = :time, revokedBy = :revokedBy',
    ConditionExpression: 'attribute_not_exists(revokedAt)',
    ExpressionAttributeValues: { ':time': revokedBy.time, ':revokedBy': revokedBy },
  });
  await conditionHolds(database.send(update));
  return (await readItem<ApiKeyRecord>(table, { hash }, { from: database }))!;
}

/** Revokes a key and prevents a delayed write from storing the key later. Returns a message about the key's state. */
function revokeUndeliveredKey(store: KeyStore, record: ApiKeyRecord, caller: string): Promise<string> {
  const key = `The key ${record.keyId} (${record.start}…)`;
  return revokeApiKey(store, record, caller).then(
    () => `${key} was revoked. Do not use it.`,
    () => `${key} may still work. Revoke it, and do not use it.`,
  );
}

/** Returns the record of a key. @throws UsageError if the key does not exist, has expired, or was rotated or revoked */
export async function findRotatableKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const record = await findApiKey(store, keyId);
  const { owner, rotatedBy, successor } = record;
  if (rotatedBy) {
    const rotation = `was rotated at ${rotatedBy.time} by ${rotatedBy.caller}`;
    throw new UsageError(plain(`The key ${keyId} ${rotation}. The successor is ${successor?.keyId}.`));
  }
  const state = stateOf(record, new Date());
  if (state !== 'active')
    throw new UsageError(plain(`The key ${keyId} is ${state}. Issue a new key to ${owner}.`));
  return record;
}

/**
 * Issues and shows a successor, and then sets the old key's expiry to the end of the overlap or the original expiry,
 * whichever is earlier. If the rotation is interrupted before that, the old key does not change, but the successor may
 * exist.
 *
 * @param rotation the overlap in milliseconds, and the successor's lifetime (default: the lifetime of the old key)
 * @param show a function that shows the operator the successor and the new expiry of the old key
 * @throws UsageError if another command has rotated or revoked the old key, in which case the successor is revoked, or
 *   if the old key cannot be updated, in which case the successor works. Errors of `issueApiKey` are thrown, too.
 */
export async function rotateApiKey(
  store: KeyStore,
  predecessor: ApiKeyRecord,
  rotation: Omit<NewKey, 'owner' | 'readOnly' | 'predecessor'> & { overlap: number },
  show: (successor: IssuedKey, expiresAt: string) => Promise<void>,
): Promise<void> {
  const { keyId, owner, readOnly, hash, createdAt, expiresAt: oldExpiry } = predecessor;
  const oldLifetime = oldExpiry === undefined ? undefined : Date.parse(oldExpiry) - Date.parse(createdAt);
  const { overlap, lifetime = oldLifetime, caller } = rotation;
  const end = timeAfter(overlap);
  const expiresAt = oldExpiry && oldExpiry < end ? oldExpiry : end;
  const newKey = { owner, readOnly, lifetime, caller, predecessor };
  const { record: successor } = await issueApiKey(store, newKey, (issued) => show(issued, expiresAt));

  const update = new UpdateCommand({
    TableName: store.table,
    Key: { hash },
    UpdateExpression: 'SET expiresAt = :expiresAt, rotatedBy = :rotatedBy, successor = :successor',
    // If the response is lost, the SDK retries the update. The first condition lets the retry succeed.
    ConditionExpression:
      'successor.keyId = :keyId OR ' +
      '(attribute_exists(keyId) AND attribute_not_exists(rotatedBy) AND attribute_not_exists(revokedAt))',
    ExpressionAttributeValues: {
      ':expiresAt': expiresAt,
      ':rotatedBy': auditLine('rotate', keyId, caller),
      ':successor': { keyId: successor.keyId },
      ':keyId': successor.keyId,
    },
  });
  const isRotated = await conditionHolds(store.database.send(update)).catch((error: Error) => {
    throw new UsageError(
      `The successor ${successor.keyId} of the key ${keyId} works, but the old key may work even after the overlap. ` +
        `Follow "Interrupted rotations" in docs/keys.md. Cause: ${error.message}`,
      { cause: error },
    );
  });
  if (isRotated) return;

  const outcome = await revokeUndeliveredKey(store, successor, caller);
  const reason = await findRotatableKey(store, keyId).then(
    () => `Another command changed the key ${keyId}. Check the list of keys.`,
    (error: Error) => error.message,
  );
  throw new UsageError(`${outcome} ${reason}`);
}
