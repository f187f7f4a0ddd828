import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { keyStart } from './names.ts';

// A key consists of a prefix with its stage, random characters and a checksum. Secret scanners recognize leaked keys by
// the prefix, and no stage looks up the keys of another one. The checksum allows the authorizer to reject a mistyped key
// without a database read. The table contains only the hashes of keys.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Number of random characters in a key. 30 base62 characters contain 178 random bits, so keys cannot be guessed. */
const RANDOM_CHARACTERS = 30;
/** Length of a key's checksum. Six base62 characters can represent any CRC-32, because 62^6 > 2^32. */
const CHECKSUM_CHARACTERS = 6;

/** Source of a regular expression that matches the name of any stage. */
export const ANY_STAGE = '[a-z][a-z0-9]*';

/** Returns the prefix of all keys of a stage. */
export function keyPrefix(stage: string): string {
  return `${keyStart}_${stage}_`;
}

/**
 * Returns the source of a regular expression that matches API keys and uses only syntax that all common dialects share.
 *
 * @param stage name of the stage @default - any stage
 */
export function keyPattern(stage = ANY_STAGE): string {
  return `${keyPrefix(stage)}[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}`;
}

/**
 * Returns the source of a regular expression that matches an `Authorization` header with the case-insensitive scheme
 * `Bearer` and a key for the given stage. The expression captures the key and uses only syntax that all common dialects share.
 */
export function authorizationPattern(stage: string): string {
  return `^[Bb][Ee][Aa][Rr][Ee][Rr] +(${keyPattern(stage)})$`;
}

/** Returns a new random API key of a stage. `newApiKey` also returns the record that must be stored for the key to work. */
export function generateApiKey(stage: string): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => BASE62[randomInt(BASE62.length)]);
  return withChecksum(keyPrefix(stage) + random.join(''));
}

/** Returns the text followed by its CRC-32 in base62. */
function withChecksum(text: string): string {
  let checksum = '';
  for (let rest = crc32(text); checksum.length < CHECKSUM_CHARACTERS; rest = Math.floor(rest / 62)) {
    checksum = `${BASE62[rest % 62]}${checksum}`;
  }
  return `${text}${checksum}`;
}

/**
 * Returns the API key in an `Authorization` header, or undefined if the header contains no key of the stage with a
 * correct checksum. Only the key's record shows whether the key is active.
 */
export function keyInHeader(authorization: string, stage: string): string | undefined {
  const key = new RegExp(authorizationPattern(stage)).exec(authorization)?.[1];
  return key !== undefined && key === withChecksum(key.slice(0, -CHECKSUM_CHARACTERS)) ? key : undefined;
}

/** Returns the hexadecimal SHA-256 of a key. The hash needs no salt, because keys have 178 random bits. */
export function hashOf(key: string): string {
  return hash('sha256', key);
}

/** Record of a key in the API keys table. Times are in ISO 8601 format in UTC. */
export interface ApiKeyRecord {
  hash: string;
  keyId: string;
  stage: string;
  owner: string;
  /** First characters of the key, which help people recognize the key. */
  start: string;
  /** Present if operations that write reject the key. */
  readOnly?: true;
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

type KeyState = 'active' | 'expired' | 'revoked';

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

/** Properties of a key to issue. */
export interface NewKey {
  owner: string;
  /** Whether operations that write reject the key. @default false */
  readOnly?: boolean | undefined;
  /** Lifetime in milliseconds. If omitted, the key does not expire. */
  lifetime?: number | undefined;
  /** ARN of the operator's IAM user or role session. */
  caller: string;
  /** Record of the key that the new key replaces. */
  predecessor?: Pick<ApiKeyRecord, 'keyId' | 'firstKeyId'>;
}

/** A key and its record. The record contains the hash instead of the key, because the key is a secret. */
export type IssuedKey = ReturnType<typeof newApiKey>;

/** Returns a new key and its record, which must be stored for the key to work. */
export function newApiKey(stage: string, { owner, readOnly, lifetime, caller, predecessor }: NewKey) {
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
    ...(readOnly && { readOnly }),
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
