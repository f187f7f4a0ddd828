import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { issueApiKey, revokeApiKey } from '../../infra/operate/key-store.ts';
import { type ApiKeyRecord, hashOf, type IssuedKey, stateOf } from '../../shared/api-keys.ts';
import { database } from '../../shared/storage/database.ts';
import {
  active,
  auditLine,
  caller,
  DAY,
  issue,
  listed,
  replacing,
  rotate,
  startStage,
  stopClock,
  store,
  stored,
  useKeysInTables,
} from './keys-in-tables.ts';

useKeysInTables();

/** Expects that only the old key and its successor are active, and that the old key has an expiry date. */
async function expectRotated(old: IssuedKey): Promise<void> {
  const record = await stored(old.record);
  const { successor, expiresAt, rotatedBy } = record;
  expect(rotatedBy).toEqual(auditLine('rotate', old.record.keyId));
  expect(stateOf(record, new Date(Date.parse(expiresAt!) - 1))).toBe('active');
  expect(stateOf(record, new Date(expiresAt!))).toBe('expired');
  expect(await active()).toEqual([successor!.keyId, old.record.keyId].toSorted());
}

/** Number of the request that sets the old key's expiry, after a query, a read and the write of the successor. */
const SET_EXPIRY = 4;
const interrupted = new Error('The command was interrupted.');

describe('rotating a key', () => {
  test('issues a successor, and keeps the old key active until the overlap ends', async () => {
    const now = stopClock();
    const old = await issue();
    const { keyId } = old.record;
    const { key, record } = await rotate(old, 3_600_000);
    const createdBy = auditLine('rotate', record.keyId);
    expect(await stored(record)).toEqual(record);
    expect(record).toMatchObject({
      hash: hashOf(key),
      owner: 'Acme',
      createdBy,
      replaces: keyId,
      firstKeyId: keyId,
    });
    const expiresAt = new Date(now + 3_600_000).toISOString();
    const rotated = { expiresAt, successor: { keyId: record.keyId }, rotatedBy: auditLine('rotate', keyId) };
    expect(await stored(old.record)).toStrictEqual({ ...old.record, ...rotated });
    await expectRotated(old);
  });

  test('keeps the limit to reading', async () => {
    const old = await issueApiKey(store, { owner: 'Acme', readOnly: true, caller });
    const successor = await rotate(old);
    expect(successor.record.readOnly).toBe(true);
    expect((await rotate(successor)).record.readOnly).toBe(true);
  });

  test("stores the first key's id in all successors, and none in an issued key", async () => {
    const first = await issue();
    const second = await rotate(first);
    const third = await rotate(second);
    const records = await Array.fromAsync([first, second, third], ({ record }) => stored(record));
    const { keyId } = first.record;
    expect(records.map(({ firstKeyId }) => firstKeyId)).toEqual([undefined, keyId, keyId]);
  });

  test('keeps the expiry of a key that expires within the overlap', async () => {
    const old = await issue(3_600_000);
    await rotate(old);
    expect((await stored(old.record)).expiresAt).toBe(old.record.expiresAt);
    await expectRotated(old);
  });

  test('fails if the key does not exist, has expired, or was rotated or revoked before', async () => {
    const [rotated, expired, revoked] = [await issue(), await issue(0), await issue()];
    const { record } = await rotate(rotated);
    await revokeApiKey(store, revoked.record, caller);
    const before = await listed();
    for (const [old, reason] of [
      [rotated, `rotated at .* by ${caller}.* ${record.keyId}`],
      [expired, 'expired'],
      [revoked, 'revoked'],
    ] as const) {
      await expect(rotate(old)).rejects.toThrow(new RegExp(`${old.record.keyId} .*${reason}`));
    }
    expect(await listed()).toEqual(before);
    startStage();
    await expect(rotate(expired)).rejects.toThrow(`There is no key ${expired.record.keyId} in`);
  });
});

test.each<[string, (record: ApiKeyRecord) => Promise<unknown>, string]>([
  [
    'deleted',
    ({ hash }) => database.send(new DeleteCommand({ TableName: store.table, Key: { hash } })),
    'is no key',
  ],
  ['revoked', (record) => revokeApiKey(store, record, caller), 'is revoked'],
])('a rotation does not restore a key that is %s during the rotation', async (_what, end, reason) => {
  const old = await issue();
  const ended = replacing(SET_EXPIRY, (execute) => end(old.record).then(execute));
  await expect(rotate(old, DAY, ended)).rejects.toThrow(new RegExp(`was revoked\\. .* ${reason}`));
  expect(await active()).toEqual([]);
});

test('a rotation whose last write gets no response names the successor and the documentation', async () => {
  const old = await issue();
  const lost = replacing(SET_EXPIRY, (execute) => execute().then(() => Promise.reject(interrupted)));
  const { message } = (await rotate(old, DAY, lost).catch((error: Error) => error)) as Error;
  const { successor } = await stored(old.record);
  expect(message).toBe(
    `The successor ${successor!.keyId} of the key ${old.record.keyId} works, but the old key may work even after the ` +
      'overlap. Follow "Interrupted rotations" in docs/api-keys.md. Cause: The command was interrupted.',
  );
  await expectRotated(old);
});
