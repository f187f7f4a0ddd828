import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { findApiKey, issueApiKey, revokeApiKey } from '../../infra/operate/key-store.ts';
import { type ApiKeyRecord, hashOf, type IssuedKey, stateOf } from '../../shared/api-keys.ts';
import { database } from '../../shared/storage/database.ts';
import {
  notRevoked,
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
  via,
} from './keys-in-tables.ts';

useKeysInTables();

const issueTo = (to: typeof store) => issueApiKey(to, { owner: 'Acme', caller });

const lost = new Error('The database returned no readable response (ECONNRESET).');
const throttled = new ThrottlingException({ message: 'Too much.', $metadata: { attempts: 2 } });

describe('a new key whose write gets no response', () => {
  test.each([
    ['is revoked', lost, 1, 'was revoked'],
    ['is revoked even if the retry is throttled', throttled, 1, 'was revoked'],
    ['must be revoked by the operator if the revocation gets no response either', lost, 9, 'may still work'],
  ])('%s', async (_what, failure, failures, state) => {
    const losing = via(async (call, execute) => {
      const result = call === 1 || call > failures ? await execute() : undefined;
      if (call <= failures) throw failure;
      return result;
    });
    const { name, message } = (await issueTo(losing).catch((error: Error) => error)) as Error;
    const [{ keyId, revokedBy }] = (await listed()) as [ApiKeyRecord];
    expect(revokedBy).toEqual(failures > 1 ? undefined : auditLine('revoke', keyId));
    expect(name).toBe('UsageError');
    for (const part of [keyId, state, failure.message]) expect(message).toContain(part);
  });
});

test('the list contains the keys on all pages, newest first', async () => {
  await issue();
  startStage();
  const now = Date.now();
  const issued: string[] = [];
  // The last of these times has one more hexadecimal digit than the others, but keys must still be sorted by time.
  for (const at of [now, now + 1, now + 2, now + 1_000, 0x10_00_00_00_00_00]) {
    stopClock(at);
    issued.push((await issue()).record.keyId);
  }
  const limits: number[] = [];
  const smallPages = via((_call, execute, input) => {
    limits.push(input.Limit);
    input.Limit = 2;
    return execute();
  });
  const list = await listed(smallPages);
  expect(list.map(({ keyId }) => keyId)).toEqual(issued.toReversed());
  expect(limits).toEqual([200, 2, 2]);
});

test('finding a key by its id returns the current record even if the index is outdated', async () => {
  const { record } = await issue();
  await issue();
  const revokedAfterQuery = replacing(1, async (execute) => {
    const result = await execute();
    await revokeApiKey(store, record, caller);
    return result;
  });
  const revoked = await findApiKey(revokedAfterQuery, record.keyId);
  expect(revoked.revokedBy).toEqual(auditLine('revoke', record.keyId));
});

test('a revoked key is no longer valid, and a second revocation does not change its record', async () => {
  const retrying = via((_call, execute) => execute().then(execute, execute));
  for (const { record } of [await issue(), await issue(0)]) {
    const revoked = await revokeApiKey(retrying, record, caller);
    const revokedBy = auditLine('revoke', record.keyId);
    expect(revoked).toStrictEqual({ ...record, revokedAt: revoked.revokedBy!.time, revokedBy });
    expect(stateOf(await stored(record), new Date())).toBe('revoked');
    expect(await revokeApiKey(store, record, 'arn:aws:iam::123456789012:user/other')).toEqual(revoked);
  }
});

/** Expects that only the old key and its successor are active, and that the old key has an expiry date. */
async function expectRotated(old: IssuedKey): Promise<void> {
  const record = await stored(old.record);
  const { successor, expiresAt, rotatedBy } = record;
  expect(rotatedBy).toEqual(auditLine('rotate', old.record.keyId));
  expect(stateOf(record, new Date(Date.parse(expiresAt!) - 1))).toBe('active');
  expect(stateOf(record, new Date(expiresAt!))).toBe('expired');
  expect(await notRevoked()).toEqual([successor!.keyId, old.record.keyId].toSorted());
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
  expect(await notRevoked()).toEqual([]);
});

test('a rotation whose last write gets no response names the successor and the documentation', async () => {
  const old = await issue();
  const losing = replacing(SET_EXPIRY, (execute) => execute().then(() => Promise.reject(interrupted)));
  const { message } = (await rotate(old, DAY, losing).catch((error: Error) => error)) as Error;
  const { successor } = await stored(old.record);
  expect(message).toBe(
    `The successor ${successor!.keyId} of the key ${old.record.keyId} works, but the old key may work even after the ` +
      'overlap. Follow "Interrupted rotations" in docs/keys.md. Cause: The command was interrupted.',
  );
  await expectRotated(old);
});
