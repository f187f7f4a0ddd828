import { paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { randomBytes } from 'node:crypto';
import {
  type ApiKeyRecord,
  type AuditLine,
  generateApiKey,
  hashOf,
  type KeyStore,
  stateOf,
} from '../shared/api-keys.ts';
import { database, putIf, readItem, updateIf } from '../shared/database.ts';
import { keyIndex } from '../shared/environment.ts';
import { UsageError } from './command.ts';

// What operators do to the keys of a stage. Every function may be cut off anywhere, and called again. Times are in
// milliseconds, and `caller` is the ARN of whoever does it.

/** Enough to recognise a key in a list, far too little to guess it: the prefix and four random characters. */
const RECOGNISABLE_CHARACTERS = 4;

export interface IssuedKey {
  /** To be shown once: nobody can read it again. */
  key: string;
  record: ApiKeyRecord;
}

interface NewKey {
  owner: string;
  /** How long it works; for ever without. */
  lifetime: number | undefined;
  caller: string;
}

/** Issues a key, which works from now on. */
export async function issueApiKey(store: KeyStore, newKey: NewKey): Promise<IssuedKey> {
  const issued = makeApiKey(store.stage, 'issue', newKey);
  await putNew(store.table, issued.record);
  return issued;
}

/** All keys that are listed, newest first. May miss what was written within the last moments. */
export async function* listApiKeys({ stage, table }: KeyStore): AsyncGenerator<ApiKeyRecord> {
  const pages = paginateQuery(
    { client: database },
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
    `There is no key ${keyId} in ${stage}: look at the list, which may lack a new one for some seconds.`,
  );
}

/** @throws UsageError when there is no such key, or it was rotated or does not work any more. */
export async function findRotatableKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const record = await findApiKey(store, keyId);
  const { rotatedBy, successor } = record;
  if (rotatedBy) {
    throw new UsageError(
      `The key ${keyId} was rotated on ${rotatedBy.time} by ${rotatedBy.caller}: its successor is ${successor?.keyId}.`,
    );
  }
  const state = stateOf(record, new Date());
  if (state !== 'active')
    throw new UsageError(`The key ${keyId} is ${state}: issue a new one to ${record.owner}.`);
  return record;
}

/**
 * Issues the successor of a key, for the same owner. The key works on as before: its end is set by `completeRotation`,
 * once the successor was shown. Until then the rotation may be begun again, with another successor in place of this one,
 * which does not work from then on.
 *
 * @param lifetime as long as the key itself was issued for, if not given.
 * @throws UsageError when somebody else has rotated or revoked the key meanwhile.
 */
export async function beginRotation(
  { stage, table }: KeyStore,
  predecessor: ApiKeyRecord,
  { lifetime = lifetimeOf(predecessor), caller }: Omit<NewKey, 'owner'>,
): Promise<IssuedKey> {
  const { owner, successor: abandoned } = predecessor;
  const issued = makeApiKey(stage, 'rotate', { owner, lifetime, caller });
  const { keyId, hash } = issued.record;

  if (abandoned) {
    // First the rotation that was begun before is kept from being completed: whoever runs it may still be at work.
    if (!(await abandonRotation(table, predecessor.hash, abandoned.hash)))
      throw changedMeanwhile(predecessor);
    await withdrawApiKey(table, abandoned, 'rotate', caller);
  }
  // Only what is named here can become a successor, so that there is never a second.
  const isNamed = await updateIf({
    TableName: table,
    Key: { hash: predecessor.hash },
    UpdateExpression: 'SET successor = :successor',
    // The SDK repeats an update whose answer got lost: it then finds its own.
    ConditionExpression:
      'attribute_not_exists(rotatedBy) AND attribute_not_exists(revokedAt) ' +
      `AND (${abandoned ? 'successor.#hash = :abandoned' : 'attribute_not_exists(successor)'} OR successor.#hash = :hash)`,
    ExpressionAttributeNames: { '#hash': 'hash' },
    ExpressionAttributeValues: {
      ':successor': { keyId, hash },
      ':hash': hash,
      ...(abandoned && { ':abandoned': abandoned.hash }),
    },
  });
  if (!isNamed || !(await putNew(table, issued.record))) {
    throw changedMeanwhile(predecessor);
  }
  return issued;
}

function abandonRotation(table: string, hash: string, abandoned: string): Promise<boolean> {
  return updateIf({
    TableName: table,
    Key: { hash },
    UpdateExpression: 'SET successor.isAbandoned = :true',
    ConditionExpression:
      'attribute_not_exists(rotatedBy) AND attribute_not_exists(revokedAt) AND successor.#hash = :abandoned',
    ExpressionAttributeNames: { '#hash': 'hash' },
    ExpressionAttributeValues: { ':true': true, ':abandoned': abandoned },
  });
}

/** When a key that is rotated now expires: after the overlap, or earlier if it would have anyway. */
export function endOfOverlap({ expiresAt }: ApiKeyRecord, overlap: number): string {
  const end = timeAfter(overlap);
  return expiresAt !== undefined && expiresAt < end ? expiresAt : end;
}

/** Gives a rotated key its end; gives whether it did: not if the rotation was begun again meanwhile. */
export async function completeRotation(
  { table }: KeyStore,
  predecessor: ApiKeyRecord,
  successor: ApiKeyRecord,
  { expiresAt, caller }: { expiresAt: string; caller: string },
): Promise<boolean> {
  const { hash, keyId } = predecessor;
  return updateIf({
    TableName: table,
    Key: { hash },
    UpdateExpression: 'SET expiresAt = :expiresAt, rotatedBy = :rotatedBy',
    ConditionExpression: 'successor.#hash = :hash AND attribute_not_exists(successor.isAbandoned)',
    ExpressionAttributeNames: { '#hash': 'hash' },
    ExpressionAttributeValues: {
      ':expiresAt': expiresAt,
      ':rotatedBy': auditLine('rotate', keyId, caller),
      ':hash': successor.hash,
    },
  });
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
  action: AuditLine['action'],
  caller: string,
): Promise<void> {
  await revoke(table, hash, auditLine(action, keyId, caller), { isListed: false });
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
function putNew(table: string, record: ApiKeyRecord): Promise<boolean> {
  return putIf({
    TableName: table,
    Item: record,
    ConditionExpression: 'attribute_not_exists(revokedAt)',
  });
}

function makeApiKey(
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

function auditLine(action: AuditLine['action'], keyId: string, caller: string): AuditLine {
  return { time: timeAfter(0), caller, action, keyId };
}

function timeAfter(milliseconds: number, start = Date.now()): string {
  return new Date(start + milliseconds).toISOString();
}

function lifetimeOf({ createdAt, expiresAt }: ApiKeyRecord): number | undefined {
  return expiresAt === undefined ? undefined : Date.parse(expiresAt) - Date.parse(createdAt);
}

function changedMeanwhile({ keyId }: ApiKeyRecord): UsageError {
  return new UsageError(
    `Somebody else rotates or revokes ${keyId} at the same time: look at the list, and try again.`,
  );
}
