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
import { UsageError } from '../command.ts';

// Every function can be interrupted at any point and then called again. Durations are in milliseconds.

export interface IssuedKey {
  /** The secret, of which only the hash is stored. */
  key: string;
  record: ApiKeyRecord;
}

export interface NewKey {
  owner: string;
  /** @default - the key does not expire */
  lifetime?: number | undefined;
  /** ARN of the operator. */
  caller: string;
  /** Id of the key that the new key replaces. */
  replaces?: string;
}

/**
 * Issues a key.
 *
 * @param show shows the key to the operator. If `show` fails, the key is revoked.
 * @throws UsageError whose message contains the state of the key, unless the database rejected the write.
 */
export async function issueApiKey(
  store: KeyStore,
  { owner, lifetime, caller, replaces }: NewKey,
  show?: (issued: IssuedKey) => Promise<void>,
): Promise<IssuedKey> {
  const { stage, table } = store;
  const key = generateApiKey(stage);
  // Like version 7 UUIDs, key ids sort by time: they start with 48 bits of milliseconds.
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
    if (!(await conditionHolds(database.send(put)))) throw new Error('Another command changed the key.');
    await show?.({ key, record });
    return { key, record };
  } catch (error) {
    const { $fault, $metadata, message } = error as Partial<DynamoDBServiceException> & Error;
    if ($fault === 'client' && $metadata?.attempts === 1) throw error;
    // The key may still be stored, because the response to an attempt may have been lost.
    const outcome = await discardApiKey(store, record, caller);
    throw new UsageError(`${outcome} ${message}`, { cause: error });
  }
}

/** Yields keys, newest first. Writes of the last seconds may be missing. @default keyId - all keys of the stage */
export async function* listApiKeys({ stage, table }: KeyStore, keyId?: string): AsyncGenerator<ApiKeyRecord> {
  const pages = paginateQuery(
    // Reading a page of the default size, 1 MB, may take longer than the timeout of the client.
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

/** @throws UsageError if the list contains no key with this id. */
export async function findApiKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const [entry] = await Array.fromAsync(listApiKeys(store, keyId));
  // The index is eventually consistent, but reads from the table are strongly consistent.
  const record = entry && (await readItem<ApiKeyRecord>(store.table, { hash: entry.hash }));
  if (record) return record;
  throw new UsageError(
    `There is no key ${keyId} in this stage. Check the list again; a new key may be missing for some seconds.`,
  );
}

/** Revokes a key permanently, and returns its record. Does not change a key that is already revoked. */
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

/** Revokes a key, even one that is stored only later. @returns a message with the state of the key */
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
