import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { findApiKey, issueApiKey, revokeApiKey } from '../../infra/operate/key-store.ts';
import { type ApiKeyRecord, stateOf } from '../../shared/api-keys.ts';
import {
  auditLine,
  caller,
  issue,
  listed,
  replacing,
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
