import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { UsageError } from '../../../../infra/operate/command.ts';
import {
  findApiKey,
  type IssuedKey,
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  withdrawApiKey,
} from '../../../../infra/operate/keys/lifecycle.ts';
import type { ApiKeyRecord } from '../../../../shared/storage/api-keys.ts';
import { database } from '../../../../shared/storage/database.ts';
import {
  aside,
  auditLine,
  caller,
  cutOff,
  cutOffAfter,
  DAY_MILLISECONDS,
  expectedRecord,
  issue,
  listed,
  startStage,
  stopClock,
  store,
  stored,
  time,
  useKeysInTables,
  via,
  type Way,
  works,
} from '../../../support/keys-in-tables.ts';

jest.setTimeout(120_000); // for a synthesis on a busy machine
useKeysInTables();

describe('issuing a key', () => {
  test('stores what tells it again and who issued it, and not the key', async () => {
    const issued = await issue();
    const { key, record } = issued;
    expect(await works(key)).toBe(true);
    expect(record).toStrictEqual(expectedRecord(issued, 'issue'));
    expect(await stored(record)).toStrictEqual(record);
    const table = await database.send(new ScanCommand({ TableName: store.table }));
    expect(JSON.stringify(table.Items)).not.toContain(key.slice(-32));
  });

  test('gives each its own key and id, which tells nothing of the key', async () => {
    stopClock();
    const [one, other] = [await issue(), await issue()];
    expect(one.key).not.toBe(other.key);
    expect(one.record.keyId).not.toBe(other.record.keyId);
    expect(one.record.hash).not.toContain(one.record.keyId.slice('key_'.length));
  });

  test('makes it work for as long as was asked', async () => {
    const now = stopClock();
    const { key, record } = await issue(90 * DAY_MILLISECONDS);
    const end = now + 90 * DAY_MILLISECONDS;
    expect(record.expiresAt).toBe(new Date(end).toISOString());
    expect(await works(key, new Date(end - 1))).toBe(true);
    expect(await works(key, new Date(end))).toBe(false);
  });
});

/** Does this in place of the put; gives the record that was to be put, and how it ended. */
async function issueWith(
  put: (execute: () => Promise<unknown>) => Promise<unknown>,
  others: Way = (_call, execute) => execute(),
): Promise<{ record: ApiKeyRecord; ending: Promise<unknown> }> {
  const { promise, resolve } = Promise.withResolvers<ApiKeyRecord>();
  const ending = via(
    (call, execute, command) => {
      if (!(command instanceof PutCommand)) return others(call, execute, command);
      resolve(command.input.Item as ApiKeyRecord);
      return put(execute);
    },
    () => issue(),
  ).catch((error: unknown) => error);
  return { record: await promise, ending };
}

async function expectTakenBack(record: ApiKeyRecord): Promise<void> {
  expect((await stored(record)).revokedBy).toEqual(auditLine('withdraw', record.keyId));
  expect(await listed()).toEqual([]);
}

describe('issuing a key whose answer gets lost', () => {
  const lost = new Error('The database gave no readable answer (ECONNRESET).');

  test('takes it back, and says so', async () => {
    const { record, ending } = await issueWith(async (execute) => {
      await execute();
      throw lost;
    });
    expect(await ending).toEqual(new UsageError(`The key ${record.keyId} was taken back. ${lost.message}`));
    await expectTakenBack(record);
  });

  test('takes it back too when a later attempt was refused', async () => {
    const refused = new ThrottlingException({ message: 'Too much.', $metadata: { attempts: 2 } });
    const { record, ending } = await issueWith(async (execute) => {
      await execute();
      throw refused;
    });
    expect(await ending).toEqual(new UsageError(`The key ${record.keyId} was taken back. Too much.`));
    await expectTakenBack(record);
  });

  test('keeps it from being stored afterwards', async () => {
    let arrive: () => Promise<unknown>;
    const { record, ending } = await issueWith(async (execute) => {
      arrive = execute;
      throw lost;
    });
    await ending;
    await expect(arrive!()).rejects.toThrow('condition');
    await expectTakenBack(record);
  });

  test('says to revoke it when it cannot be taken back', async () => {
    const { record, ending } = await issueWith(
      async (execute) => {
        await execute();
        throw lost;
      },
      () => Promise.reject(lost),
    );
    expect(await ending).toEqual(
      new UsageError(`The key ${record.keyId} may work though nobody has it, so revoke it. ${lost.message}`),
    );
    expect(await listed()).toEqual([record]);
  });
});

test('a key that the database refused is not taken back', async () => {
  let calls = 0;
  const refused = via(
    (_call, execute) => {
      calls += 1;
      return execute();
    },
    () => issueApiKey({ ...store, table: 'missing' }, { owner: 'Acme', caller }),
  );
  await expect(refused).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  expect(calls).toBe(1);
});

describe('the list of keys', () => {
  test('has those of its stage, newest first, from as many pages as they take', async () => {
    await issue();
    startStage();
    const now = Date.now();
    const issued: string[] = [];
    // The last of them has a digit more, in base 16, than the others.
    for (const at of [now, now + 1, now + 2, now + 1_000, 0x10_00_00_00_00_00]) {
      stopClock(at);
      issued.push((await issue()).record.keyId);
    }
    let limit: number | undefined;
    let pages = 0;
    const list = await via(
      (call, execute, { input }) => {
        if (call === 1) limit = input.Limit;
        input.Limit = 2;
        pages = call;
        return execute();
      },
      () => Array.fromAsync(listApiKeys(store)),
    );
    expect(list.map(({ keyId }) => keyId)).toEqual(issued.toReversed());
    expect(pages).toBe(3);
    // As many as there is time for in one call.
    expect(limit).toBe(200);
  });

  test('has what was stored of each', async () => {
    const { record } = await issue(DAY_MILLISECONDS);
    expect(await listed()).toEqual([record]);
  });
});

describe('a key is found', () => {
  test('by its id, as it is in the table now', async () => {
    const { record } = await issue();
    await issue();
    expect(await findApiKey(store, record.keyId)).toEqual(record);
    const revoked = await via(
      async (call, execute) => {
        const result = await execute();
        if (call === 1) await aside(() => revokeApiKey(store, record, caller)); // after the index was asked
        return result;
      },
      () => findApiKey(store, record.keyId),
    );
    expect(revoked.revokedBy).toEqual(auditLine('revoke', record.keyId));
  });

  test('in its own stage alone', async () => {
    const { record } = await issue();
    startStage();
    await expect(findApiKey(store, record.keyId)).rejects.toThrow(
      new UsageError(
        `There is no key ${record.keyId} in this stage: look at the list, which may lack a new one for some seconds.`,
      ),
    );
  });
});

describe('revoking a key', () => {
  const somebodyElse = 'arn:aws:iam::123456789012:user/other';

  /** Revokes it again, which changes nothing. */
  async function expectRevoked({ key, record }: IssuedKey, revoked: ApiKeyRecord): Promise<void> {
    expect(await works(key)).toBe(false);
    expect(await revokeApiKey(store, record, somebodyElse)).toStrictEqual(revoked);
    expect(await stored(record)).toStrictEqual(revoked);
  }

  test('ends it at once, and is recorded once for all', async () => {
    const issued = await issue();
    const { record } = issued;
    const revoked = await revokeApiKey(store, record, caller);
    expect(revoked).toStrictEqual({
      ...record,
      revokedAt: revoked.revokedBy!.time,
      revokedBy: auditLine('revoke', record.keyId),
    });
    await expectRevoked(issued, revoked);
    expect(await listed()).toEqual([revoked]);
  });

  test('is done to one that has expired too', async () => {
    const { record } = await issue(0);
    expect(await revokeApiKey(store, record, caller)).toMatchObject({
      expiresAt: record.expiresAt,
      revokedAt: time,
    });
  });

  test.each([1, 2])('is done when the answer to its call %d gets lost', async (last) => {
    const issued = await issue();
    const { record } = issued;
    const cut = via(cutOffAfter(last), () => revokeApiKey(store, record, caller));
    await expect(cut).rejects.toBe(cutOff);
    await expectRevoked(issued, await stored(record));
  });

  test('is recorded once when its calls are repeated', async () => {
    const issued = await issue();
    const { record } = issued;
    const revoked = await via(
      async (_call, execute) => {
        await execute().catch(() => {});
        return execute();
      },
      () => revokeApiKey(store, record, caller),
    );
    expect(revoked.revokedBy).toEqual(auditLine('revoke', record.keyId));
    await expectRevoked(issued, revoked);
  });
});

describe('a key that is taken back', () => {
  test('never works, is neither listed nor found, and keeps its record', async () => {
    const { key, record } = await issue();
    await withdrawApiKey(store.table, record, caller);
    expect(await works(key)).toBe(false);
    expect(await listed()).toEqual([]);
    await expect(findApiKey(store, record.keyId)).rejects.toThrow('There is no key');
    const { stage: _listedIn, ...others } = record;
    const withdrawn = await stored(record);
    expect(withdrawn).toStrictEqual({
      ...others,
      revokedAt: withdrawn.revokedBy!.time,
      revokedBy: auditLine('withdraw', record.keyId),
    });
  });
});
