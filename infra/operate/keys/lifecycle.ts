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

// Each of these functions may be interrupted at any point and called again. Durations are in milliseconds, and `caller` is
// the ARN of the operator.

export interface IssuedKey {
  /** Cannot be read again. */
  key: string;
  record: ApiKeyRecord;
}

export interface NewKey {
  owner: string;
  /** @default - the key does not expire */
  lifetime?: number | undefined;
  caller: string;
  /** Id of the key that this one is to replace. */
  replaces?: string;
}

/**
 * Issues a key, which works immediately.
 *
 * @param show shows the key to the operator. If that fails, the key is revoked.
 * @throws UsageError that says what became of the key, unless the database rejected it.
 */
export async function issueApiKey(
  store: KeyStore,
  { owner, lifetime, caller, replaces }: NewKey,
  show?: (issued: IssuedKey) => Promise<void>,
): Promise<IssuedKey> {
  const { stage, table } = store;
  const key = generateApiKey(stage);
  // Ids sort by time: 48 bits of milliseconds, as in a version 7 UUID, and 32 random bits.
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
    // A retry may arrive after the key was revoked or rotated.
    ConditionExpression: 'attribute_not_exists(revokedAt) AND attribute_not_exists(rotatedBy)',
  });
  try {
    if (!(await conditionHolds(database.send(put)))) throw new Error('It was revoked meanwhile.');
    await show?.({ key, record });
    return { key, record };
  } catch (error) {
    const { $fault, $metadata, message } = error as Partial<DynamoDBServiceException> & Error;
    if ($fault === 'client' && $metadata?.attempts === 1) throw error;
    // The key may be stored even so: the response to an attempt may have been lost.
    const outcome = await discardApiKey(store, record, caller);
    throw new UsageError(`${outcome} ${message}`, { cause: error });
  }
}

/** Yields the listed keys, newest first, except what was written within the last moments. @default keyId - all keys */
export async function* listApiKeys({ stage, table }: KeyStore, keyId?: string): AsyncGenerator<ApiKeyRecord> {
  const pages = paginateQuery(
    // A page of a megabyte, the default, may take longer than the client's timeout.
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

/** @throws UsageError if no key with this id is listed. */
export async function findApiKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const [entry] = await Array.fromAsync(listApiKeys(store, keyId));
  // The index is eventually consistent.
  const record = entry && (await readItem<ApiKeyRecord>(store.table, { hash: entry.hash }));
  if (record) return record;
  throw new UsageError(
    `There is no key ${keyId} in this stage: check the list, which may lack a new key for some seconds.`,
  );
}

/** Revokes a key for good, and returns its record. A key that is already revoked stays as it is. */
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

/**
 * Revokes a key that must not be used. A write that stores the key later finds it revoked.
 *
 * @returns a sentence that says what became of the key.
 */
export async function discardApiKey(store: KeyStore, record: ApiKeyRecord, caller: string): Promise<string> {
  const key = `The key ${record.keyId} (${record.start}…)`;
  return revokeApiKey(store, record, caller).then(
    () => `${key} was revoked, so do not use it.`,
    () => `${key} may work: revoke it, and do not use it.`,
  );
}

/** Returns the audit line of what an operator does to a key now. */
export function auditLine(action: AuditLine['action'], keyId: string, caller: string): AuditLine {
  return { time: timeAfter(0), caller, action, keyId };
}

/** Returns a time as ISO 8601 in UTC. */
export function timeAfter(milliseconds: number, start = Date.now()): string {
  return new Date(start + milliseconds).toISOString();
}
