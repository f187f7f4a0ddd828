import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { findRotatableKey, revokeApiKey, rotateApiKey } from '../../../../infra/operate/keys/lifecycle.ts';
import { type ApiKeyRecord, hashOf, type IssuedKey, stateOf } from '../../../../shared/storage/api-keys.ts';
import { database } from '../../../../shared/storage/database.ts';
import {
  active,
  aside,
  auditLine,
  caller,
  DAY,
  issue,
  listed,
  replacing,
  startStage,
  stopClock,
  store,
  stored,
  useKeysInTables,
  via,
  type Interceptor,
  works,
} from './keys-in-tables.ts';

useKeysInTables();

async function rotate(old: IssuedKey, overlap = DAY): Promise<IssuedKey> {
  const predecessor = await findRotatableKey(store, old.record.keyId);
  const shown: IssuedKey[] = [];
  const show = async (successor: IssuedKey) => void shown.push(successor);
  await rotateApiKey(store, predecessor, { overlap, caller }, show);
  return shown[0]!;
}

/** Expects that only the old key and its successor work, and that the old key expires. */
async function expectRotated(old: IssuedKey): Promise<void> {
  const record = await stored(old.record);
  const { successor, expiresAt, rotatedBy } = record;
  expect(rotatedBy).toEqual(auditLine('rotate', old.record.keyId));
  expect(stateOf(record, new Date())).toBe('active');
  expect(stateOf(record, new Date(expiresAt!))).toBe('expired');
  expect(await active()).toEqual([successor!.keyId, old.record.keyId].toSorted());
}

/** Number of the request that sets the old key's expiry. Follows a query, a read and the successor's write. */
const SET_EXPIRY = 4;
const interrupted = new Error('The command was interrupted.');

describe('rotating a key', () => {
  test('lets both keys work until the overlap ends', async () => {
    const now = stopClock();
    const old = await issue();
    const { keyId } = old.record;
    const { key, record } = await rotate(old, 3_600_000);
    const end = now + 3_600_000;
    const createdBy = auditLine('rotate', record.keyId);
    expect(await stored(record)).toStrictEqual({
      hash: hashOf(key),
      keyId: expect.stringMatching(/^key_[0-9a-f]{20}$/),
      stage: store.stage,
      owner: 'Acme',
      start: key.slice(0, -32),
      createdAt: createdBy.time,
      createdBy,
      replaces: keyId,
    });
    expect(await stored(old.record)).toStrictEqual({
      ...old.record,
      expiresAt: new Date(end).toISOString(),
      successor: { keyId: record.keyId },
      rotatedBy: auditLine('rotate', keyId),
    });
    await expectRotated(old);
    expect(await works(old.key, new Date(end - 1))).toBe(true);
    expect(await works(old.key, new Date(end))).toBe(false);
  });

  test('keeps the expiry of a key that expires within the overlap', async () => {
    const old = await issue(3_600_000);
    await rotate(old);
    expect((await stored(old.record)).expiresAt).toBe(old.record.expiresAt);
    await expectRotated(old);
  });

  test('fails if the key has expired or was already rotated or revoked', async () => {
    const [rotated, expired, revoked] = [await issue(), await issue(0), await issue()];
    const { record } = await rotate(rotated);
    await revokeApiKey(store, revoked.record, caller);
    const before = await listed();
    for (const [old, sentence] of [
      [rotated, `was rotated at .* by ${caller}. Its successor is ${record.keyId}.`],
      [expired, 'is expired. Issue a new key to Acme.'],
      [revoked, 'is revoked. Issue a new key to Acme.'],
    ] as const) {
      await expect(rotate(old)).rejects.toThrow(new RegExp(`^The key ${old.record.keyId} ${sentence}$`));
    }
    expect(await listed()).toEqual(before);
    startStage();
    await expect(rotate(expired)).rejects.toThrow(`There is no key ${expired.record.keyId} in`);
  });
});

test.each([0, 1, 2, 3])('a rotation that is interrupted after %d requests can be repeated', async (last) => {
  const old = await issue();
  const { keyId } = old.record;
  const intercept: Interceptor = (call, execute) => (call > last ? Promise.reject(interrupted) : execute());
  await expect(via(intercept, () => rotate(old))).rejects.toThrow(interrupted.message);
  expect(await stored(old.record)).toEqual(old.record);
  const extra = (await listed()).filter((record) => record.keyId !== keyId);
  expect(extra.map(({ replaces }) => replaces)).toEqual(last < 3 ? [] : [keyId]);
  for (const record of extra) await revokeApiKey(store, record, caller);
  await rotate(old);
  await expectRotated(old);
});

test('a retry of the last write succeeds even if the old key was revoked before the retry', async () => {
  const old = await issue();
  const revokeBeforeRetry = async (execute: () => Promise<unknown>) => {
    await execute();
    await aside(() => revokeApiKey(store, old.record, caller));
    return execute();
  };
  const { record } = await replacing(SET_EXPIRY, revokeBeforeRetry, () => rotate(old));
  expect(await active()).toEqual([record.keyId]);
  expect(await stored(old.record)).toMatchObject({ rotatedBy: {}, revokedBy: {} });
});

test.each<[string, (record: ApiKeyRecord) => Promise<unknown>, string]>([
  [
    'deleted',
    ({ hash }) => database.send(new DeleteCommand({ TableName: store.table, Key: { hash } })),
    'is no key',
  ],
  ['revoked', (record) => revokeApiKey(store, record, caller), 'is revoked\\. Issue a new key to Acme'],
])('a rotation does not restore a key that is %s at the same time', async (_what, end, reason) => {
  const old = await issue();
  const endFirst = async (execute: () => Promise<unknown>) => {
    await aside(() => end(old.record));
    return execute();
  };
  const rotation = replacing(SET_EXPIRY, endFirst, () => rotate(old));
  await expect(rotation).rejects.toThrow(new RegExp(`was revoked\\. Do not use it\\. The.* ${reason}`));
  expect(await active()).toEqual([]);
});

test('a rotation refers to the documentation if the response to its last write is lost', async () => {
  const old = await issue();
  const rotation = replacing(
    SET_EXPIRY,
    (execute) => execute().then(() => Promise.reject(interrupted)),
    () => rotate(old),
  );
  const advice = `Follow "Interrupted rotations" in docs/api-keys.md. Cause: ${interrupted.message}`;
  await expect(rotation).rejects.toThrow(new RegExp(`^The old key ${old.record.keyId} .* ${advice}$`));
  await expectRotated(old);
});

test.each([
  ['', false],
  [' even if one rotation retries a request', true],
])('two simultaneous rotations of a key leave one active successor%s', async (_what, isRetried) => {
  // The first operator's request number `at` waits until the second operator has rotated the key.
  for (let at = 1; at <= 4; at += 1) {
    startStage();
    stopClock(); // so that both operators have the same time and caller
    const old = await issue();
    const errors: Error[] = [];
    const waits: Interceptor = async (call, execute) => {
      if (call === at && isRetried) await execute();
      if (call === at) await aside(() => rotate(old)).catch((error: Error) => errors.push(error));
      return execute();
    };
    await via(waits, () => rotate(old)).catch((error: Error) => errors.push(error));
    await expectRotated(old);
    expect(errors).toHaveLength(1);
    for (const useless of (await listed()).filter(({ revokedAt }) => revokedAt)) {
      expect(errors[0]!.message).toContain(
        `The key ${useless.keyId} (${useless.start}…) was revoked. Do not use it. The key ${old.record.keyId} was rotated at `,
      );
    }
  }
});
