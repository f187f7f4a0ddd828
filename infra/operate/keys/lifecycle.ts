import { paginateQuery, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { randomBytes } from 'node:crypto';
import { keyPrefix } from '../../../shared/contract/authorization.ts';
import {
  type ApiKeyRecord,
  type AuditLine,
  generateApiKey,
  hashOf,
  type KeyStore,
} from '../../../shared/storage/api-keys.ts';
import { conditionHolds, database, readItem } from '../../../shared/storage/database.ts';
import { keyIndex } from '../../../shared/names.ts';
import { UsageError } from '../../command.ts';

// Every function can safely be called again after an interruption at any point. All durations are in milliseconds.

export interface IssuedKey {
  /** The secret. The database stores only the hash of the key. */
  key: string;
  record: ApiKeyRecord;
}

export interface NewKey {
  owner: string;
  /** Lifetime in milliseconds. If omitted, the key does not expire. */
  lifetime?: number | undefined;
  /** ARN of the operator. */
  caller: string;
  /** Id of the key that the new key replaces. */
  replaces?: string;
}

/**
 * Issues a key. If `show` fails, revokes the key.
 *
 * @param show a function that shows the key to the operator
 * @throws UsageError with the state of the key, unless the database rejected the write.
 */
export async function issueApiKey(
  store: KeyStore,
  { owner, lifetime, caller, replaces }: NewKey,
  show?: (issued: IssuedKey) => Promise<void>,
): Promise<IssuedKey> {
  const { stage, table } = store;
  const key = generateApiKey(stage);
  // Key ids start with 48 bits of milliseconds, like version 7 UUIDs, so key ids sort by creation time.
  const keyId = `key_${Date.now().toString(16).padStart(12, '0')}${randomBytes(4).toString('hex')}`;
  const createdBy = auditLine(replaces === undefined ? 'issue' : 'rotate', keyId, caller);
  const record: ApiKeyRecord = {
    hash: hashOf(key),
    keyId,
    stage,
    owner,
    start: key.slice(0, keyPrefix(stage).length + 4),
    createdAt: createdBy.time,
    createdBy,
    ...(lifetime !== undefined && { expiresAt: timeAfter(lifetime, Date.parse(createdBy.time)) }),
    ...(replaces !== undefined && { replaces }),
  };
  const put = new PutCommand({
    TableName: table,
    Item: record,
    // A delayed retry must not undo a revocation or rotation.
    ConditionExpression: 'attribute_not_exists(revokedAt) AND attribute_not_exists(rotatedBy)',
  });
  try {
    if (!(await conditionHolds(database.send(put)))) throw new Error('Another command revoked the key.');
    await show?.({ key, record });
    return { key, record };
  } catch (error) {
    const { $fault, $metadata, message } = error as Partial<DynamoDBServiceException> & Error;
    if ($fault === 'client' && $metadata?.attempts === 1) throw error;
    // The key is revoked, because an attempt whose response was lost may have stored the key.
    const outcome = await discardApiKey(store, record, caller);
    throw new UsageError(`${outcome} ${message}`, { cause: error });
  }
}

/** Yields the keys of a stage, newest first, or only `keyId`. Keys that are a few seconds old can be missing. */
export async function* listApiKeys({ stage, table }: KeyStore, keyId?: string): AsyncGenerator<ApiKeyRecord> {
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

/** @throws UsageError if the list does not contain `keyId`. */
export async function findApiKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const [entry] = await Array.fromAsync(listApiKeys(store, keyId));
  // The index is eventually consistent, so the current record is read from the table.
  const record = entry && (await readItem<ApiKeyRecord>(store.table, { hash: entry.hash }));
  if (record) return record;
  throw new UsageError(
    `There is no key ${keyId} in this stage. If the key is new, run the command again after a few seconds.`,
  );
}

/** Revokes a key permanently and returns its record. A key that is already revoked does not change. */
export async function revokeApiKey(
  { table }: KeyStore,
  { hash, keyId }: ApiKeyRecord,
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
  return (await readItem<ApiKeyRecord>(table, { hash }))!;
}

/** Revokes a key, even if a delayed write stores it later. Returns a message about the key's state. */
export async function discardApiKey(store: KeyStore, record: ApiKeyRecord, caller: string): Promise<string> {
  const key = `The key ${record.keyId} (${record.start}…)`;
  return revokeApiKey(store, record, caller).then(
    () => `${key} was revoked. Do not use it.`,
    () => `${key} may still work. Revoke it, and do not use it.`,
  );
}

export function auditLine(action: AuditLine['action'], keyId: string, caller: string): AuditLine {
  return { time: timeAfter(0), caller, action, keyId };
}

export function timeAfter(milliseconds: number, start = Date.now()): string {
  return new Date(start + milliseconds).toISOString();
}
