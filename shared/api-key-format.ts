import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { KEY_CHECKSUM_CHARACTERS, KEY_RANDOM_CHARACTERS, keyPrefix } from './contract/authorization.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns a new key. The key ends with a checksum that detects typing errors without a database read. */
export function generateApiKey(stage: string): string {
  const random = Array.from({ length: KEY_RANDOM_CHARACTERS }, () => BASE62[randomInt(BASE62.length)]);
  return withChecksum(keyPrefix(stage) + random.join(''));
}

export function isWellFormedApiKey(stage: string, key: string): boolean {
  return key.startsWith(keyPrefix(stage)) && key === withChecksum(key.slice(0, -KEY_CHECKSUM_CHARACTERS));
}

function withChecksum(text: string): string {
  let checksum = '';
  for (let rest = crc32(text); checksum.length < KEY_CHECKSUM_CHARACTERS; rest = Math.floor(rest / 62)) {
    checksum = `${BASE62[rest % 62]}${checksum}`;
  }
  return `${text}${checksum}`;
}
