import { paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { randomBytes } from 'node:crypto';
import {
  type ApiKeyRecord,
  type AuditLine,
  generateApiKey,
  hashOf,
  type KeyStore,
} from '../../../shared/storage/api-keys.ts';
import { database, putIf, readItem, updateIf } from '../../../shared/storage/database.ts';
import { keyIndex } from '../../../shared/names.ts';
import { UsageError } from '../command.ts';

// What operators do to the keys of a stage. Every function may be cut off anywhere, and called again. Times are in
// milliseconds, and `caller` is the ARN of whoever does it.

/** Enough to recognise a key in a list, far too little to guess it: the prefix and four random characters. */
const RECOGNISABLE_CHARACTERS = 4;

export interface IssuedKey {
  /** To be shown once: nobody can read it again. */
  key: string;
  record: ApiKeyRecord;
}

export interface NewKey {
  owner: string;
  /** How long it works; for ever without. */
  lifetime?: number | undefined;
  caller: string;
}

/**
 * Issues a key, which works from now on.
 *
 * @param show shows it to whoever is to have it; a key that could not be shown is taken back.
 * @throws UsageError saying what has become of the key, unless the database refused to store it.
 */
export async function issueApiKey(
  { stage, table }: KeyStore,
  newKey: NewKey,
  show?: (issued: IssuedKey) => Promise<void>,
): Promise<IssuedKey> {
  const issued = makeApiKey(stage, 'issue', newKey);
  try {
    await putNew(table, issued.record);
    await show?.(issued);
    return issued;
  } catch (error) {
    const { $fault, $metadata, message } = error as Partial<DynamoDBServiceException> & Error;
    if ($fault === 'client' && $metadata?.attempts === 1) throw error;
    // The key may be stored all the same: the answer to an attempt may have got lost.
    const { keyId } = issued.record;
    const outcome = await withdrawApiKey(table, issued.record, newKey.caller).then(
      () => 'was taken back',
      () => 'may work though nobody has it, so revoke it',
    );
    throw new UsageError(`The key ${keyId} ${outcome}. ${message}`, { cause: error });
  }
}

/** All keys that are listed, newest first. May miss what was written within the last moments. */
export async function* listApiKeys({ stage, table }: KeyStore): AsyncGenerator<ApiKeyRecord> {
  const pages = paginateQuery(
    // A megabyte, which a page has otherwise, may take longer than the client waits for an answer.
    { client: database, pageSize: 200 },
    {
      TableName: table,
      IndexName: keyIndex.indexName,
      KeyConditionExpression: '#stage = :stage',
      ExpressionAttributeNames: { '#stage': keyIndex.partitionKey },
      ExpressionAttributeValues: { ':stage': stage },
      ScanIndexForward: false,
    },
  );
  for await (const { Items = [] } of pages) yield* Items as ApiKeyRecord[];
}

/** @throws UsageError when no key with this id is listed. */
export async function findApiKey({ stage, table }: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const { Items: [entry] = [] } = await database.send(
    new QueryCommand({
      TableName: table,
      IndexName: keyIndex.indexName,
      KeyConditionExpression: '#stage = :stage AND #keyId = :keyId',
      ExpressionAttributeNames: { '#stage': keyIndex.partitionKey, '#keyId': keyIndex.sortKey },
      ExpressionAttributeValues: { ':stage': stage, ':keyId': keyId },
    }),
  );
  // The index follows the table within moments.
  const record = entry && (await readItem<ApiKeyRecord>(table, { hash: entry['hash'] }));
  if (record) return record;
  throw new UsageError(
    `There is no key ${keyId} in this stage: look at the list, which may lack a new one for some seconds.`,
  );
}

/** Revokes a key for good; gives its record. One that was revoked before stays as it is. */
export async function revokeApiKey(
  { table }: KeyStore,
  { hash, keyId }: ApiKeyRecord,
  caller: string,
): Promise<ApiKeyRecord> {
  await revoke(table, hash, auditLine('revoke', keyId, caller));
  return (await readItem<ApiKeyRecord>(table, { hash }))!;
}

/**
 * Takes back a key that nobody has: it never works, and is not listed. It need not be in the table yet; if whoever makes it
 * is still at work, they will find it taken back.
 */
export async function withdrawApiKey(
  table: string,
  { hash, keyId }: Pick<ApiKeyRecord, 'hash' | 'keyId'>,
  caller: string,
): Promise<void> {
  await revoke(table, hash, auditLine('withdraw', keyId, caller), { isListed: false });
}

async function revoke(
  table: string,
  hash: string,
  revokedBy: AuditLine,
  { isListed = true } = {},
): Promise<void> {
  await updateIf({
    TableName: table,
    Key: { hash },
    UpdateExpression: `SET revokedAt = :time, revokedBy = :revokedBy ${isListed ? '' : 'REMOVE #stage'}`,
    ConditionExpression: 'attribute_not_exists(revokedAt)',
    ...(!isListed && { ExpressionAttributeNames: { '#stage': keyIndex.partitionKey } }),
    ExpressionAttributeValues: { ':time': revokedBy.time, ':revokedBy': revokedBy },
  });
}

/** Puts the record of a new key, unless it was withdrawn; gives whether it did. */
export function putNew(table: string, record: ApiKeyRecord): Promise<boolean> {
  return putIf({
    TableName: table,
    Item: record,
    // A repetition may arrive late, when more has become of the key.
    ConditionExpression: 'attribute_not_exists(revokedAt) AND attribute_not_exists(successor)',
  });
}

/** A new key with its record, which is not stored yet. */
export function makeApiKey(
  stage: string,
  action: AuditLine['action'],
  { owner, lifetime, caller }: NewKey,
): IssuedKey {
  const key = generateApiKey(stage);
  const createdBy = auditLine(action, newKeyId(), caller);
  const record: ApiKeyRecord = {
    hash: hashOf(key),
    keyId: createdBy.keyId,
    stage,
    owner,
    start: key.slice(0, `pets_${stage}_`.length + RECOGNISABLE_CHARACTERS),
    createdAt: createdBy.time,
    createdBy,
    ...(lifetime !== undefined && { expiresAt: timeAfter(lifetime, Date.parse(createdBy.time)) }),
  };
  return { key, record };
}

/** Grows with time, to the millisecond: 48 bits of it, as in a UUID of version 7, and 32 random ones. */
function newKeyId(): string {
  return `key_${Date.now().toString(16).padStart(12, '0')}${randomBytes(4).toString('hex')}`;
}

/** Who does something to a key now. */
export function auditLine(action: AuditLine['action'], keyId: string, caller: string): AuditLine {
  return { time: timeAfter(0), caller, action, keyId };
}

/** ISO 8601 in UTC. */
export function timeAfter(milliseconds: number, start = Date.now()): string {
  return new Date(start + milliseconds).toISOString();
}
