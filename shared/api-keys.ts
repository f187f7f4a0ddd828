import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { hash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { database, readItem } from './database.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 30 characters of base62 are 178 random bits. */
const RANDOM_CHARACTERS = 30;
/** 62^6 > 2^32: six characters hold any CRC-32. */
const CHECKSUM_CHARACTERS = 6;
/** Enough to recognise a key in a list, far too little to guess it: prefix and four random characters. */
const RECOGNISABLE_CHARACTERS = 4;

/** Where the keys of a stage are: its name, which is part of each key, and its table. */
export interface KeyStore {
  stage: string;
  table: string;
}

/** What is kept of a key. Times are ISO 8601 in UTC. */
export interface ApiKeyRecord {
  /** SHA-256 of the whole key in hexadecimal digits. */
  hash: string;
  keyId: string;
  owner: string;
  /** The first characters, for people to recognise a key by. */
  start: string;
  createdAt: string;
  expiresAt?: string;
  revokedAt?: string;
}

/** A new key: `pets_<stage>_`, 30 random characters, and a checksum that lets a typing error be noticed unread. */
export function generateApiKey(stage: string): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => BASE62[randomInt(BASE62.length)]).join('');
  return withChecksum(`pets_${stage}_${random}`);
}

/** Whether a text has the form of a key of this stage, checksum included. */
export function isWellFormedApiKey(stage: string, key: string): boolean {
  return key.startsWith(`pets_${stage}_`) && key === withChecksum(key.slice(0, -CHECKSUM_CHARACTERS));
}

/**
 * Issues a key. The caller shows it once: nobody can read it again afterwards.
 *
 * @param expiresAt when the key stops working; never by default.
 * @throws when the table cannot be written.
 */
export async function issueApiKey(
  { stage, table }: KeyStore,
  owner: string,
  expiresAt?: Date,
): Promise<{ key: string; record: ApiKeyRecord }> {
  const key = generateApiKey(stage);
  const record: ApiKeyRecord = {
    hash: hashOf(key),
    keyId: `key_${randomBytes(8).toString('hex')}`,
    owner,
    start: key.slice(0, `pets_${stage}_`.length + RECOGNISABLE_CHARACTERS),
    createdAt: new Date().toISOString(),
    ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
  };
  await database.send(new PutCommand({ TableName: table, Item: record }));
  return { key, record };
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
  return record && worksAt(record, now) ? record : undefined;
}

function worksAt({ expiresAt, revokedAt }: ApiKeyRecord, now: Date): boolean {
  return [expiresAt, revokedAt].every((end) => end === undefined || now < new Date(end));
}

function hashOf(key: string): string {
  return hash('sha256', key);
}

function withChecksum(text: string): string {
  let checksum = '';
  for (let rest = crc32(text); checksum.length < CHECKSUM_CHARACTERS; rest = Math.floor(rest / 62)) {
    checksum = `${BASE62[rest % 62]}${checksum}`;
  }
  return `${text}${checksum}`;
}
