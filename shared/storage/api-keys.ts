import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { KEY_CHECKSUM_CHARACTERS, KEY_RANDOM_CHARACTERS, keyPrefix } from '../contract/authorization.ts';
import { readItem } from './database.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export interface KeyStore {
  stage: string;
  table: string;
}

/** What the table stores about a key. Times are ISO 8601 in UTC. */
export interface ApiKeyRecord {
  hash: string;
  keyId: string;
  /** Absent from keys that were issued before keys could be listed. */
  stage?: string;
  owner: string;
  /** The first characters, by which people recognise a key. */
  start: string;
  createdAt: string;
  createdBy?: AuditLine;
  replaces?: string;
  expiresAt?: string;
  revokedAt?: string;
  revokedBy?: AuditLine;
  rotatedBy?: AuditLine;
  /** Written together with `rotatedBy`. In earlier versions a rotation that was interrupted left it alone. */
  successor?: { keyId: string };
}

export interface AuditLine {
  time: string;
  /** ARN of the IAM user, or of the role and its session. */
  caller: string;
  action: 'issue' | 'rotate' | 'revoke';
  keyId: string;
}

export const keyStates = ['active', 'expired', 'revoked'] as const;
export type KeyState = (typeof keyStates)[number];

/** A new key: its prefix, random characters, and a checksum that reveals a typing error without a read. */
export function generateApiKey(stage: string): string {
  const random = Array.from({ length: KEY_RANDOM_CHARACTERS }, () => BASE62[randomInt(BASE62.length)]);
  return withChecksum(keyPrefix(stage) + random.join(''));
}

export function isWellFormedApiKey(stage: string, key: string): boolean {
  return key.startsWith(keyPrefix(stage)) && key === withChecksum(key.slice(0, -KEY_CHECKSUM_CHARACTERS));
}

/** SHA-256 of the whole key in hexadecimal digits. A key is too random for its hash to be searched. */
export function hashOf(key: string): string {
  return hash('sha256', key);
}

/** The record of a key that works now, or undefined. The checksum is verified before the table is read. */
export async function verifyApiKey(
  { stage, table }: KeyStore,
  key: string,
  now: Date = new Date(),
): Promise<ApiKeyRecord | undefined> {
  if (!isWellFormedApiKey(stage, key)) return undefined;
  const record = await readItem<ApiKeyRecord>(table, { hash: hashOf(key) });
  return record && stateOf(record, now) === 'active' ? record : undefined;
}

/** Whether a key works at this moment, or why not. An end that cannot be read has come. */
export function stateOf({ expiresAt, revokedAt }: Partial<ApiKeyRecord>, now: Date): KeyState {
  // Whatever its time: the clock of the operator who revoked it may be fast.
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt === undefined || now < new Date(expiresAt) ? 'active' : 'expired';
}

function withChecksum(text: string): string {
  let checksum = '';
  for (let rest = crc32(text); checksum.length < KEY_CHECKSUM_CHARACTERS; rest = Math.floor(rest / 62)) {
    checksum = `${BASE62[rest % 62]}${checksum}`;
  }
  return `${text}${checksum}`;
}
