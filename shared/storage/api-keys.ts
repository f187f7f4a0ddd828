import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { hash, randomInt } from 'node:crypto';
import { generateApiKey, isWellFormedApiKey } from '../api-key-format.ts';
import { keyPrefix } from '../contract/authorization.ts';
import { readItem } from './database.ts';

/** Table with the API keys of a stage, and the client that reads and writes it. */
export interface KeyStore {
  stage: string;
  table: string;
  database: DynamoDBDocumentClient;
}

/** Record of a key in the API keys table. Times are in ISO 8601 format in UTC. */
export interface ApiKeyRecord {
  hash: string;
  keyId: string;
  stage: string;
  owner: string;
  /** First characters of the key, which help people recognize the key. */
  start: string;
  createdAt: string;
  createdBy: AuditLine;
  /** Id of the key that a rotation replaced with this key. */
  replaces?: string;
  /** Id of the issued key from which rotations led to this key. Absent in issued keys. */
  firstKeyId?: string;
  expiresAt?: string;
  revokedAt?: string;
  revokedBy?: AuditLine;
  rotatedBy?: AuditLine;
  successor?: { keyId: string };
}

/** Record of who issued, rotated or revoked a key, and when. */
export interface AuditLine {
  time: string;
  /** ARN of the IAM user or the role session. */
  caller: string;
  action: 'issue' | 'rotate' | 'revoke';
  keyId: string;
}

/** Properties of a key to issue. */
export interface NewKey {
  owner: string;
  /** Lifetime in milliseconds. If omitted, the key does not expire. */
  lifetime?: number | undefined;
  /** ARN of the operator's IAM user or role session. */
  caller: string;
  /** Record of the key that the new key replaces. */
  predecessor?: Pick<ApiKeyRecord, 'keyId' | 'firstKeyId'>;
}

/** A key and its record. The record contains the hash instead of the key, because the key is a secret. */
export type IssuedKey = ReturnType<typeof newApiKey>;

export const keyStates = ['active', 'expired', 'revoked'] as const;
export type KeyState = (typeof keyStates)[number];

/** The record of a key that a client sent, and the key's state at the time of the request. */
export interface VerifiedKey {
  record: ApiKeyRecord;
  state: KeyState;
}

/** Returns a new key and its record, which must be stored for the key to work. */
export function newApiKey(stage: string, { owner, lifetime, caller, predecessor }: NewKey) {
  const key = generateApiKey(stage);
  // Like version 7 UUIDs, key ids start with 48 bits for the time in milliseconds, so they sort by creation time.
  const id = BigInt(Date.now()) * 2n ** 32n + BigInt(randomInt(2 ** 32));
  const keyId = `key_${id.toString(16).padStart(20, '0')}`;
  const createdBy = auditLine(predecessor ? 'rotate' : 'issue', keyId, caller);
  const record: ApiKeyRecord = {
    hash: hashOf(key),
    keyId,
    stage,
    owner,
    start: key.slice(0, keyPrefix(stage).length + 4),
    createdAt: createdBy.time,
    createdBy,
    ...(lifetime !== undefined && { expiresAt: timeAfter(lifetime, Date.parse(createdBy.time)) }),
    ...(predecessor && {
      replaces: predecessor.keyId,
      firstKeyId: predecessor.firstKeyId ?? predecessor.keyId,
    }),
  };
  return { key, record };
}

/** Returns the audit line of an action at this moment. @param caller ARN of the operator's IAM user or role session */
export function auditLine(action: AuditLine['action'], keyId: string, caller: string): AuditLine {
  return { time: timeAfter(0), caller, action, keyId };
}

/**
 * Returns the time some milliseconds after `start`, in ISO 8601 format in UTC.
 *
 * @param start milliseconds since 1970 @default - now
 */
export function timeAfter(milliseconds: number, start = Date.now()): string {
  return new Date(start + milliseconds).toISOString();
}

/** Returns the hexadecimal SHA-256 of a key. The hash needs no salt, because keys have 178 random bits. */
export function hashOf(key: string): string {
  return hash('sha256', key);
}

/**
 * Returns a key's record and state, or undefined if the key has no record. A key with a wrong prefix or checksum is not
 * looked up, because no such key has a record.
 *
 * @throws Error if the table cannot be read.
 */
export async function verifyApiKey(
  { stage, table, database }: KeyStore,
  key: string,
): Promise<VerifiedKey | undefined> {
  if (!isWellFormedApiKey(stage, key)) return undefined;
  const record = await readItem<ApiKeyRecord>(table, { hash: hashOf(key) }, database);
  // The state is determined after the read, because a read with retries can take seconds, in which the key can expire.
  return record && { record, state: stateOf(record, new Date()) };
}

/**
 * Returns the state of a key. A key that was revoked and has expired is `revoked`. A key with an invalid expiry date is
 * `expired`.
 */
export function stateOf({ expiresAt, revokedAt }: Partial<ApiKeyRecord>, now: Date): KeyState {
  // The time of the revocation is ignored, because the clock of the operator who revoked the key can be fast,
  // and the key must stop working at once.
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt === undefined || now < new Date(expiresAt) ? 'active' : 'expired';
}
