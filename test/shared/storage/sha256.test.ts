import { expect, test } from '@jest/globals';
import { createHash, createHmac } from 'node:crypto';
import { sha256 } from '../../../shared/storage/sha256.ts';

const text = Buffer.from('AWS4-HMAC-SHA256');

test.each([
  ['a hash without a secret', undefined, createHash('sha256')],
  ['an HMAC with a secret string', 'key', createHmac('sha256', 'key')],
  ['the same HMAC with a secret in bytes', new TextEncoder().encode('key'), createHmac('sha256', 'key')],
])('sha256 returns %s', (_what, secret, expected) => {
  const hash = sha256(secret);
  hash.update(text.subarray(0, 4));
  hash.update(text.subarray(4));
  expect(hash.digest()).toEqual(expected.update(text).digest());
});
