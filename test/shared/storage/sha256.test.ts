import { expect, test } from '@jest/globals';
import { createHash, createHmac } from 'node:crypto';
import { Sha256 } from '../../../shared/storage/sha256.ts';

const text = Buffer.from('AWS4-HMAC-SHA256');

test.each([
  ['a hash without a secret', undefined, createHash('sha256')],
  ['an HMAC with a secret string', 'key', createHmac('sha256', 'key')],
  ['the same HMAC with a secret in bytes', new TextEncoder().encode('key'), createHmac('sha256', 'key')],
])('Sha256 returns %s', async (_what, secret, expected) => {
  const hash = new Sha256(secret);
  hash.update(text.subarray(0, 4));
  hash.update(text.subarray(4));
  expect(await hash.digest()).toEqual(expected.update(text).digest());
});
