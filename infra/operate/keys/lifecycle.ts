import {
  type DynamoDBDocumentClient,
  paginateQuery,
  paginateScan,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import {
  type ApiKeyRecord,
  type IssuedKey,
  type NewKey,
  auditLine,
  newApiKey,
  stateOf,
  timeAfter,
} from '../../../shared/api-keys.ts';
import { conditionHolds, readItem } from '../../../shared/storage/database.ts';
import { ID_START } from '../../../shared/storage/ids.ts';
import { keyIndex } from '../../../shared/names.ts';
import { plain, UsageError } from '../../command.ts';

/** Table with the API keys of a stage, and the client that reads and writes it. */
export interface KeyStore {
  stage: string;
  table: string;
  database: DynamoDBDocumentClient;
}

// After an interruption at any point, each function of this file can safely be called again. All durations are in
// milliseconds.

/**
 * A key's record, or the revocation of a key whose record is missing. A revocation has the key id as `hash`, which no
 * key's hash equals, and `-` as `owner` and `start`, which lists show. When somebody restores the record,
 * docs/runbook/copy-missing-items.ts revokes the key.
 */
export type KeyEntry = Omit<ApiKeyRecord, 'createdBy'> & Partial<ApiKeyRecord>;

/** Returns whether an entry is the record of a key, and not the revocation of a key whose record is missing. */
export function isRecord(entry: KeyEntry): entry is ApiKeyRecord {
  return entry.hash !== entry.keyId;
}

// Pages are small, because reading a page of the default size, 1 MB, could exceed the client's timeout.
const ITEMS_PER_PAGE = 200;
const MINUTE = 60_000;

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
 * Yields the records and revocations of a stage's keys, newest key first. If `keyId` is set, yields only those of that
 * key. New records can be missing, because the index is eventually consistent.
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
  for await (const { Items = [] } of pages) yield* Items as KeyEntry[];
}

/** Returns the current record of a key, or undefined if the list of keys does not contain the record. */
async function findListedKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord | undefined> {
  const entries = await Array.fromAsync(listApiKeys(store, keyId));
  const entry = entries.find(isRecord);
  // The index is eventually consistent, so the current record is read from the table.
  return entry && readItem<ApiKeyRecord>(store.table, { hash: entry.hash }, { from: store.database });
}

/** Returns the current record of a key. @throws UsageError if the list of keys does not contain the record */
export async function findApiKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const record = await findListedKey(store, keyId);
  if (record) return record;
  throw new UsageError(
    `There is no key ${keyId} in this stage. If the key is new, run the command again after a few seconds.`,
  );
}

/** Returns the current record of a key, or else its revocation, or undefined if the table contains neither. */
export async function findKeyEntry(store: KeyStore, keyId: string): Promise<KeyEntry | undefined> {
  const { table, database } = store;
  return (
    (await findListedKey(store, keyId)) ??
    (await scanForKey(store, keyId)) ??
    (await readItem<KeyEntry>(table, { hash: keyId }, { from: database }))
  );
}

/**
 * Returns the record of a key even if the index does not contain it yet, or undefined if there is none. The scan is
 * strongly consistent, so it includes all writes that completed before the call.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html
 */
async function scanForKey(
  { stage, table, database }: KeyStore,
  keyId: string,
): Promise<ApiKeyRecord | undefined> {
  const pages = paginateScan(
    { client: database, pageSize: ITEMS_PER_PAGE },
    {
      TableName: table,
      ConsistentRead: true,
      FilterExpression: '#stage = :stage AND keyId = :keyId AND #hash <> :keyId',
      ExpressionAttributeNames: { '#stage': 'stage', '#hash': 'hash' },
      ExpressionAttributeValues: { ':stage': stage, ':keyId': keyId },
    },
  );
  for await (const { Items = [] } of pages) if (Items.length > 0) return Items[0] as ApiKeyRecord;
  return undefined;
}

/** Returns the time at which a key was issued. @throws UsageError if no key can have this id */
export function issueTimeOf(keyId: string): string {
  const digits = keyId.slice('key_'.length);
  const milliseconds = Number(BigInt(`0x${digits}`) >> 32n);
  // The clock of the operator who issued the key can be fast, so a time up to a minute in the future is possible.
  const isPossible = milliseconds >= Date.parse(ID_START) && milliseconds < Date.now() + MINUTE;
  if (digits.length === 20 && isPossible) return timeAfter(0, milliseconds);
  throw new UsageError(`There is no key ${keyId} in this stage, and no key has this id. Correct the id.`);
}

/**
 * Stores the revocation of a key whose record is missing, and returns it. If somebody restores the record meanwhile,
 * revokes the key and returns its record. docs/runbook/copy-missing-items.ts first stores a record and then looks for a
 * revocation, so at least one of the two commands finds what the other has stored.
 */
export async function revokeLostKey(store: KeyStore, keyId: string, caller: string): Promise<KeyEntry> {
  const { stage, table, database } = store;
  const revokedBy = auditLine('revoke', keyId, caller);
  const revocation = { revokedAt: revokedBy.time, revokedBy };
  const createdAt = issueTimeOf(keyId);
  const Item: KeyEntry = { hash: keyId, keyId, stage, owner: '-', start: '-', createdAt, ...revocation };
  const put = new PutCommand({
    TableName: table,
    Item,
    ConditionExpression: 'attribute_not_exists(#hash)',
    ExpressionAttributeNames: { '#hash': 'hash' },
  });
  await conditionHolds(database.send(put));
  const restored = await scanForKey(store, keyId);
  if (restored) return revokeApiKey(store, restored, caller);
  return (await readItem<KeyEntry>(table, { hash: keyId }, { from: database }))!;
}

/** Revokes a key permanently and returns its record. A key that is already revoked does not change. */
export async function revokeApiKey(
  store: KeyStore,
  { keyId, hash }: Pick<ApiKeyRecord, 'keyId' | 'hash'>,
  caller: string,
): Promise<ApiKeyRecord> {
  const { table, database } = store;
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
        `Follow "Interrupted rotations" in docs/api-keys.md. Cause: ${error.message}`,
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
