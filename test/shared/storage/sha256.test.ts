import { expect, test } from '@jest/globals';
import { createHash, createHmac } from 'node:crypto';
import { Sha256 } from '../../../shared/storage/sha256.ts';

const text = Buffer.from('AWS4-HMAC-SHA256');

test.each([
  ['no secret is a hash', undefined, createHash('sha256')],
  ['a text is an HMAC', 'key', createHmac('sha256', 'key')],
  ['bytes is the same HMAC', new TextEncoder().encode('key'), createHmac('sha256', 'key')],
])('a signature with %s', async (_what, secret, expected) => {
  const hash = new Sha256(secret);
  hash.update(text.subarray(0, 4));
  hash.update(text.subarray(4));
  expect(await hash.digest()).toEqual(expected.update(text).digest());
});
