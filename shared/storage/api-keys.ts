import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { readItem } from './database.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 30 characters of base62 are 178 random bits. */
const RANDOM_CHARACTERS = 30;
/** 62^6 > 2^32: six characters hold any CRC-32. */
const CHECKSUM_CHARACTERS = 6;

/** Where the keys of a stage are: its name, which is part of each key, and its table. */
export interface KeyStore {
  stage: string;
  table: string;
}

/** What is kept of a key, under its hash. Times are ISO 8601 in UTC. */
export interface ApiKeyRecord {
  /** See `hashOf`. */
  hash: string;
  keyId: string;
  /** Absent from one that was taken back, which is not listed. */
  stage?: string;
  owner: string;
  /** The first characters, for people to recognise a key by. */
  start: string;
  createdAt: string;
  /** Absent from keys that were issued before this was recorded. */
  createdBy?: AuditLine;
  expiresAt?: string;
  revokedAt?: string;
  revokedBy?: AuditLine;
  /** The key that replaces it. Until `rotatedBy` is set too, nobody needs to have seen that one, and it may be abandoned. */
  successor?: { keyId: string; hash: string; isAbandoned?: true };
  rotatedBy?: AuditLine;
}

/** Who did what to a key, and when. */
export interface AuditLine {
  time: string;
  /** ARN of the IAM user, or of the role and its session. */
  caller: string;
  action: 'issue' | 'rotate' | 'revoke' | 'withdraw';
  keyId: string;
}

export const keyStates = ['active', 'expired', 'revoked'] as const;
export type KeyState = (typeof keyStates)[number];

/** A new key: `pets_<stage>_`, 30 random characters, and a checksum that lets a typing error be noticed unread. */
export function generateApiKey(stage: string): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => BASE62[randomInt(BASE62.length)]).join('');
  return withChecksum(`pets_${stage}_${random}`);
}

/** Whether a text has the form of a key of this stage, checksum included. */
export function isWellFormedApiKey(stage: string, key: string): boolean {
  return key.startsWith(`pets_${stage}_`) && key === withChecksum(key.slice(0, -CHECKSUM_CHARACTERS));
}

/** SHA-256 of the whole key in hexadecimal digits. A key is too random for its hash to be searched. */
export function hashOf(key: string): string {
  return hash('sha256', key);
}

/**
 * The record of a key that works at this moment; undefined for one that is malformed, unknown, expired or
 * revoked. The checksum is verified before anything is read.
 *
 * @throws when the table cannot be read.
 */
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
  for (let rest = crc32(text); checksum.length < CHECKSUM_CHARACTERS; rest = Math.floor(rest / 62)) {
    checksum = `${BASE62[rest % 62]}${checksum}`;
  }
  return `${text}${checksum}`;
}
