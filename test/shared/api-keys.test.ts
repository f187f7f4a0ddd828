import { describe, expect, jest, test } from '@jest/globals';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import {
  generateApiKey,
  hashOf,
  keyInHeader,
  keyPattern,
  keyPrefix,
  newApiKey,
  stateOf,
} from '../../shared/api-keys.ts';

const prefix = keyPrefix('staging');
const now = new Date('2026-11-21T12:00:00Z');
const earlier = '2026-11-21T11:59:59.999Z';
const later = '2026-11-21T12:00:00.001Z';

const anyCharacter = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.stringMatching(/^\w$/),
);

/** Pairs of a key and a copy in which one character is replaced or two adjacent characters are swapped. */
const misspelled = fc
  .tuple(fc.nat({ max: 47 }), fc.option(anyCharacter))
  .map(([at, character]) => {
    const key = generateApiKey('staging');
    const [one = '', next = ''] = key.slice(at);
    return {
      key,
      other: `${key.slice(0, at)}${character === null ? next + one : character + next}${key.slice(at + 2)}`,
    };
  })
  .filter(({ key, other }) => key !== other);

describe('newApiKey', () => {
  const caller = 'arn:aws:iam::123456789012:user/operator';

  test('returns a key, and a record that contains only the hash and the first characters of the key', () => {
    jest.spyOn(Date, 'now').mockReturnValueOnce(1_790_000_000_123).mockReturnValueOnce(1_790_000_000_123);
    const { key, record } = newApiKey('staging', { owner: 'Acme', caller });
    const keyId = expect.stringMatching(/^key_[0-9a-f]{20}$/);
    const time = record.createdAt;
    expect(record).toStrictEqual({
      hash: hashOf(key),
      keyId,
      stage: 'staging',
      owner: 'Acme',
      start: key.slice(0, prefix.length + 4),
      createdAt: time,
      createdBy: { time, caller, action: 'issue', keyId },
    });
    expect(Number.parseInt(record.keyId.slice(4, 16), 16)).toBe(Date.parse(time));
  });

  test('returns a record that says whether the key can only read', () => {
    const newKey = { owner: 'Acme', caller };
    expect(newApiKey('staging', { ...newKey, readOnly: true }).record).toHaveProperty('readOnly', true);
    expect(newApiKey('staging', { ...newKey, readOnly: false }).record).not.toHaveProperty('readOnly');
  });

  test('returns a record with the expiry date of the key, and the ids of the replaced key and the first key', () => {
    const newKey = { owner: 'Acme', caller, lifetime: 1_000 };
    const { record } = newApiKey('staging', { ...newKey, predecessor: { keyId: 'key_1' } });
    const rotated = { replaces: 'key_1', firstKeyId: 'key_1', createdBy: { action: 'rotate' } };
    expect(record).toMatchObject(rotated);
    expect(Date.parse(record.expiresAt!) - Date.parse(record.createdAt)).toBe(1_000);
    const predecessor = { keyId: 'key_2', firstKeyId: 'key_1' };
    expect(newApiKey('staging', { ...newKey, predecessor }).record).toMatchObject({
      ...rotated,
      replaces: 'key_2',
    });
  });
});

describe('generateApiKey', () => {
  // Clients' secret scanners rely on the algorithm in docs/api.md.
  test('ends each key with its CRC-32 in base62', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    for (const key of Array.from({ length: 100 }, () => generateApiKey('production'))) {
      const sum = crc32(key.slice(0, -6));
      const places = [5, 4, 3, 2, 1, 0].map((place) => digits[Math.floor(sum / 62 ** place) % 62]);
      expect(key.slice(-6)).toBe(places.join(''));
    }
  });

  test('returns a key that consists of the prefix of the stage and 36 letters and digits', () => {
    expect(generateApiKey('staging')).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{36}$`));
    expect(generateApiKey('pr123')).toMatch(new RegExp(`^${keyPattern()}$`));
  });

  test('uses all 62 letters and digits at each position before the checksum', () => {
    const keys = Array.from({ length: 2000 }, () => generateApiKey('staging').slice(prefix.length, -6));
    const counts = Array.from({ length: 30 }, (_, place) => new Set(keys.map((key) => key[place])).size);
    expect(new Set(counts)).toEqual(new Set([62]));
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test('a key is active until its expiry date, unless it is revoked', () => {
  const keys = {
    'without an expiry date': {},
    'before its expiry date': { expiresAt: later },
    'at its expiry date': { expiresAt: now.toISOString() },
    'with an invalid expiry date': { expiresAt: 'soon' },
    'with a revocation date in the future': { revokedAt: later },
    'that expired before its revocation': { revokedAt: later, expiresAt: earlier },
  };
  const states = Object.entries(keys).map(([what, times]) => [what, stateOf(times, now)]);
  expect(Object.fromEntries(states)).toEqual({
    'without an expiry date': 'active',
    'before its expiry date': 'active',
    'at its expiry date': 'expired',
    'with an invalid expiry date': 'expired',
    'with a revocation date in the future': 'revoked',
    'that expired before its revocation': 'revoked',
  });
});

describe('keyInHeader', () => {
  test('returns no misspelled key', () => {
    fc.assert(
      fc.property(misspelled, ({ key, other }) => {
        expect(keyInHeader(`Bearer ${key}`, 'staging')).toBe(key);
        expect(keyInHeader(`Bearer ${other}`, 'staging')).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  test('returns no key of another stage', () => {
    expect(keyInHeader(`Bearer ${generateApiKey('production')}`, 'staging')).toBeUndefined();
    expect(keyInHeader('Bearer ', 'staging')).toBeUndefined();
  });
});
