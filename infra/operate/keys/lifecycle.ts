import { paginateQuery, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import type { ApiKeyRecord, IssuedKey, KeyStore, NewKey } from '../../../shared/storage/api-keys.ts';
import { auditLine, newApiKey, stateOf, timeAfter } from '../../../shared/storage/api-keys.ts';
import { conditionHolds, readItem } from '../../../shared/storage/database.ts';
import { keyIndex } from '../../../shared/names.ts';
import { plain, UsageError } from '../../command.ts';

// Every function can safely be called again after an interruption at any point. All durations are in milliseconds.

/**
 * Issues a key. If `show` fails, revokes the key.
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
    // The key is revoked, because an attempt whose response was lost may have stored the key.
    const outcome = await revokeUndeliveredKey(store, issued.record, newKey.caller);
    throw new UsageError(`${outcome} ${message}`, { cause: error });
  }
}

/** Yields the keys of a stage, newest first. If `keyId` is set, yields only that key. New keys can be missing. */
export async function* listApiKeys({ stage, table, database }: KeyStore, keyId?: string) {
  const pages = paginateQuery(
    // Reading a page of the default size, 1 MB, could exceed the client's timeout.
    { client: database, pageSize: 200 },
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

/** Returns the current record of a key. @throws UsageError if the list of keys does not contain `keyId` */
export async function findApiKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const [entry] = await Array.fromAsync(listApiKeys(store, keyId));
  // The index is eventually consistent, so the current record is read from the table.
  const record = entry && (await readItem<ApiKeyRecord>(store.table, { hash: entry.hash }, store.database));
  if (record) return record;
  throw new UsageError(
    `There is no key ${keyId} in this stage. If the key is new, run the command again after a few seconds.`,
  );
}

/** Revokes a key permanently and returns its record. A key that is already revoked does not change. */
export async function revokeApiKey(store: KeyStore, { keyId, hash }: ApiKeyRecord, caller: string) {
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
  return (await readItem<ApiKeyRecord>(table, { hash }, database))!;
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
 * whichever is earlier. An interrupted rotation does not change the old key, but the successor may exist.
 *
 * @param rotation the overlap in milliseconds, and the successor's lifetime (default: the lifetime of the old key)
 * @param show a function that shows the operator the successor and the new expiry of the old key
 * @throws UsageError if another command has rotated or revoked the old key. The successor is then revoked.
 */
export async function rotateApiKey(
  store: KeyStore,
  predecessor: ApiKeyRecord,
  rotation: Omit<NewKey, 'owner' | 'predecessor'> & { overlap: number },
  show: (successor: IssuedKey, expiresAt: string) => Promise<void>,
): Promise<void> {
  const { keyId, owner, hash, createdAt, expiresAt: oldExpiry } = predecessor;
  const oldLifetime = oldExpiry === undefined ? undefined : Date.parse(oldExpiry) - Date.parse(createdAt);
  const { overlap, lifetime = oldLifetime, caller } = rotation;
  const end = timeAfter(overlap);
  const expiresAt = oldExpiry && oldExpiry < end ? oldExpiry : end;
  const newKey = { owner, lifetime, caller, predecessor };
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
      `The old key ${keyId} may work even after the overlap. Follow "Interrupted rotations" in docs/api-keys.md. ` +
        `Cause: ${error.message}`,
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
