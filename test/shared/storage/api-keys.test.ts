import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import {
  generateApiKey,
  isWellFormedApiKey,
  stateOf,
  verifyApiKey,
} from '../../../shared/storage/api-keys.ts';
import { mock } from '../../support/mocked-database.ts';

const staging = { stage: 'staging', table: 'keys' };
const now = new Date('2026-11-21T12:00:00Z');
const earlier = '2026-11-21T11:59:59.999Z';
const later = '2026-11-21T12:00:00.001Z';

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const anyCharacter = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.stringMatching(/^\w$/),
);

/** The key with another character at one place, or two neighbours swapped. */
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

describe('a key', () => {
  test('has its stage, 30 random characters and 6 that check them', () => {
    expect(generateApiKey('staging')).toMatch(/^pets_staging_[0-9A-Za-z]{36}$/);
  });

  test('draws on all 62 characters at every place', () => {
    const keys = Array.from({ length: 2000 }, () =>
      generateApiKey('staging').slice('pets_staging_'.length, -6),
    );
    const seen = Array.from({ length: 30 }, (_, place) => new Set(keys.map((key) => key[place])).size);
    expect(new Set(seen)).toEqual(new Set([62]));
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('is well-formed in its own stage and in no other', () => {
    const key = generateApiKey('staging');
    expect(isWellFormedApiKey('staging', key)).toBe(true);
    expect(isWellFormedApiKey('production', key)).toBe(false);
    expect(isWellFormedApiKey('production', key.replace('staging', 'production'))).toBe(false);
  });
});

describe('a key is', () => {
  test.each([
    ['active', 'without an end', {}],
    ['active', 'until it expires', { expiresAt: later }],
    ['expired', 'when it expires', { expiresAt: now.toISOString() }],
    ['expired', 'when its end cannot be read', { expiresAt: 'soon' }],
    ['revoked', 'even when its operator had a fast clock', { revokedAt: later }],
    ['revoked', 'though it has expired before', { revokedAt: later, expiresAt: earlier }],
  ])('%s %s', (state, _when, ends) => {
    expect(stateOf(ends, now)).toBe(state);
  });
});

describe('verifying a key', () => {
  const key = generateApiKey('staging');
  const record = {
    hash: sha256(key),
    keyId: 'key_1',
    owner: 'Acme',
    start: key.slice(0, 17),
    createdAt: '2026-01-01T00:00:00.000Z',
  };

  test('reads the record under its hash, up to date', async () => {
    mock.on(GetCommand).resolves({ Item: record });
    expect(await verifyApiKey(staging, key, now)).toEqual(record);
    expect(mock.calls().map(({ args }) => args[0].input)).toEqual([
      { TableName: 'keys', Key: { hash: sha256(key) }, ConsistentRead: true },
    ]);
  });

  test('goes by the present time', async () => {
    const in2000 = '2000-01-01T00:00:00.000Z';
    const in2999 = '2999-01-01T00:00:00.000Z';
    mock
      .on(GetCommand)
      .resolvesOnce({ Item: { ...record, expiresAt: in2000 } })
      .resolvesOnce({ Item: { ...record, expiresAt: in2999 } });
    expect(await verifyApiKey(staging, key)).toBeUndefined();
    expect(await verifyApiKey(staging, key)).toMatchObject({ expiresAt: in2999 });
  });

  test('refuses a malformed one and one of another stage unread', async () => {
    mock.on(GetCommand).resolves({ Item: record });
    await fc.assert(
      fc.asyncProperty(misspelled, async ({ other }) => {
        expect(await verifyApiKey(staging, other, now)).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
    expect(await verifyApiKey(staging, generateApiKey('production'), now)).toBeUndefined();
    expect(await verifyApiKey(staging, '', now)).toBeUndefined();
    expect(mock.calls()).toEqual([]);
  });
});
