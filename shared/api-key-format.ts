import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { KEY_CHECKSUM_CHARACTERS, KEY_RANDOM_CHARACTERS, keyPrefix } from './contract/authorization.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Returns a new random API key of a stage. The key ends with a checksum, so that the authorizer can reject a mistyped
 * key without a database read. `newApiKey` also returns the record that must be stored for the key to work.
 */
export function generateApiKey(stage: string): string {
  const random = Array.from({ length: KEY_RANDOM_CHARACTERS }, () => BASE62[randomInt(BASE62.length)]);
  return withChecksum(keyPrefix(stage) + random.join(''));
}

/**
 * Returns whether a key has the prefix of the stage and a correct checksum. Only the key's record shows whether the key
 * is active.
 */
export function isWellFormedApiKey(stage: string, key: string): boolean {
  return key.startsWith(keyPrefix(stage)) && key === withChecksum(key.slice(0, -KEY_CHECKSUM_CHARACTERS));
}

/** Returns the text followed by its CRC-32 in base62. */
function withChecksum(text: string): string {
  let checksum = '';
  for (let rest = crc32(text); checksum.length < KEY_CHECKSUM_CHARACTERS; rest = Math.floor(rest / 62)) {
    checksum = `${BASE62[rest % 62]}${checksum}`;
  }
  return `${text}${checksum}`;
}
