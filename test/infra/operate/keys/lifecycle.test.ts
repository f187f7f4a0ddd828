import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { UsageError } from '../../../../infra/command.ts';
import {
  findApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from '../../../../infra/operate/keys/lifecycle.ts';
import { type ApiKeyRecord, stateOf } from '../../../../shared/storage/api-keys.ts';
import {
  aside,
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
  type Interceptor,
  works,
} from './keys-in-tables.ts';

useKeysInTables();

describe('a new key if its write gets no response', () => {
  const lost = new Error('The database returned no readable response (ECONNRESET).');
  const throttled = new ThrottlingException({ message: 'Too much.', $metadata: { attempts: 2 } });

  test.each([
    ['', lost],
    [' even if the retry is throttled', throttled],
  ])('is revoked%s', async (_what, failure) => {
    const loseResponse = async (execute: () => Promise<unknown>) => {
      await execute();
      throw failure;
    };
    const error = await replacing(1, loseResponse, () => issue()).catch((thrown: unknown) => thrown);
    const [{ keyId, start, revokedBy }] = (await listed()) as [ApiKeyRecord];
    expect(revokedBy).toEqual(auditLine('revoke', keyId));
    const outcome = `The key ${keyId} (${start}…) was revoked. Do not use it. ${failure.message}`;
    expect(error).toEqual(new UsageError(outcome));
  });

  test('remains revoked if the write arrives later', async () => {
    let [hash, arrive] = ['', async (): Promise<unknown> => undefined];
    const delay = async (execute: () => Promise<unknown>, { Item }: { Item: ApiKeyRecord }) => {
      hash = Item.hash;
      arrive = execute;
      throw lost;
    };
    await expect(replacing(1, delay, () => issue())).rejects.toThrow('was revoked');
    await expect(arrive()).rejects.toThrow('condition');
    expect(stateOf(await stored({ hash }), new Date())).toBe('revoked');
  });

  test('must be revoked by the operator if the automatic revocation fails', async () => {
    const loseAll: Interceptor = async (call, execute) => {
      if (call === 1) await execute();
      throw lost;
    };
    const error = await via(loseAll, () => issue()).catch((thrown: unknown) => thrown);
    const [{ keyId, start, revokedBy }] = (await listed()) as [ApiKeyRecord];
    expect(revokedBy).toBeUndefined();
    const outcome = `The key ${keyId} (${start}…) may still work. Revoke it, and do not use it. ${lost.message}`;
    expect(error).toEqual(new UsageError(outcome));
  });
});

test('a delayed retry of the write that stores a key does not undo a rotation', async () => {
  const puts: (() => Promise<unknown>)[] = [];
  const remember = (execute: () => Promise<unknown>) => {
    puts.push(execute);
    return execute();
  };
  const { record } = await replacing(1, remember, () => issue());
  await rotateApiKey(store, record, { overlap: 1, caller }, async () => {});
  await expect(puts[0]!()).rejects.toThrow('condition');
});

test('the list contains the keys on all pages, newest first', async () => {
  await issue();
  startStage();
  const now = Date.now();
  const issued: string[] = [];
  // The last time has an additional hexadecimal digit, which must not change the order.
  for (const at of [now, now + 1, now + 2, now + 1_000, 0x10_00_00_00_00_00]) {
    stopClock(at);
    issued.push((await issue()).record.keyId);
  }
  let limit: number | undefined;
  let pages = 0;
  const list = await via(
    (call, execute, input) => {
      if (call === 1) limit = input.Limit;
      input.Limit = 2;
      pages = call;
      return execute();
    },
    () => Array.fromAsync(listApiKeys(store)),
  );
  expect(list.map(({ keyId }) => keyId)).toEqual(issued.toReversed());
  expect(pages).toBe(3);
  expect(limit).toBe(200);
});

test('finding a key by its id returns the current record even if the index is outdated', async () => {
  const { record } = await issue();
  await issue();
  const revoked = await via(
    async (call, execute) => {
      const result = await execute();
      if (call === 1) await aside(() => revokeApiKey(store, record, caller)); // after the index was read
      return result;
    },
    () => findApiKey(store, record.keyId),
  );
  expect(revoked.revokedBy).toEqual(auditLine('revoke', record.keyId));
});

const twice: Interceptor = async (_call, execute) => {
  await execute().catch(() => {});
  return execute();
};

test('the first revocation of a key takes effect immediately and cannot be changed', async () => {
  for (const { key, record } of [await issue(), await issue(0)]) {
    const revoked = await via(twice, () => revokeApiKey(store, record, caller));
    expect(revoked).toStrictEqual({
      ...record,
      revokedAt: revoked.revokedBy!.time,
      revokedBy: auditLine('revoke', record.keyId),
    });
    expect(await works(key)).toBe(false);
    expect(await revokeApiKey(store, record, 'arn:aws:iam::123456789012:user/other')).toEqual(revoked);
  }
});
