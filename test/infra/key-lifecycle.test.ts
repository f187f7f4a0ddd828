import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { UsageError } from '../../infra/command.ts';
import {
  beginRotation,
  completeRotation,
  endOfOverlap,
  findApiKey,
  findRotatableKey,
  type IssuedKey,
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  withdrawApiKey,
} from '../../infra/key-lifecycle.ts';
import { type ApiKeyRecord, type AuditLine, type KeyStore, verifyApiKey } from '../../shared/api-keys.ts';
import { database, readItem } from '../../shared/database.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

jest.setTimeout(120_000); // for a synthesis on a busy machine
useRealTables();

const DAY_MILLISECONDS = 86_400_000;
const caller = 'arn:aws:iam::123456789012:user/operator';
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown as string;

/** Keys of a stage of its own for each test. */
let store: KeyStore;
/** What the rotations have shown so far. */
let shown: string[];
let stages = 0;

function startStage(): void {
  stages += 1;
  store = { stage: `stage${stages}`, table: process.env['API_KEYS_TABLE']! };
  shown = [];
}

/** Takes a call to the database, by its number counted from 1, and may execute it. */
type Way = (call: number, execute: () => Promise<unknown>, command: any) => Promise<unknown>;
const ways = new AsyncLocalStorage<{ way: Way; calls: number } | undefined>();
const send = database.send.bind(database);

/** Runs something whose own calls to the database all go this way. */
function via<Result>(way: Way, run: () => Promise<Result>): Promise<Result> {
  return ways.run({ way, calls: 0 }, run);
}

/** Runs something; before its call with this number comes what is to happen meanwhile. */
function pauseBefore<Result>(
  pause: number,
  meanwhile: () => Promise<unknown>,
  run: () => Promise<Result>,
): Promise<Result> {
  return via(async (call, execute) => {
    if (call === pause) await ways.exit(meanwhile);
    return execute();
  }, run);
}

beforeEach(() => {
  startStage();
  database.send = (async (command: any) => {
    const current = ways.getStore();
    const execute = () => send(command);
    if (!current) return execute();
    current.calls += 1;
    return current.way(current.calls, execute, command);
  }) as typeof database.send;
});
afterEach(() => {
  database.send = send;
  jest.restoreAllMocks();
});

/** Stops the clock by which keys get their ends and ids; gives its time. */
function stopClock(at = Date.now()): number {
  jest.spyOn(Date, 'now').mockReturnValue(at);
  return at;
}

function issue(lifetime?: number): Promise<IssuedKey> {
  return issueApiKey(store, { owner: 'Acme', lifetime, caller });
}

/** Rotates a key as the command does. */
async function rotate(
  keyId: string,
  { overlap = DAY_MILLISECONDS, lifetime }: { overlap?: number; lifetime?: number } = {},
): Promise<IssuedKey> {
  const predecessor = await findRotatableKey(store, keyId);
  const successor = await beginRotation(store, predecessor, { lifetime, caller });
  shown.push(successor.key);
  const expiresAt = endOfOverlap(predecessor, overlap);
  const isComplete = await completeRotation(store, predecessor, successor.record, { expiresAt, caller });
  if (!isComplete) throw new UsageError('Somebody else took over.');
  return successor;
}

async function works(key: string, at?: Date): Promise<boolean> {
  return ways.exit(async () => (await verifyApiKey(store, key, at)) !== undefined);
}

function listed(): Promise<ApiKeyRecord[]> {
  return ways.exit(() => Array.fromAsync(listApiKeys(store)));
}

async function stored({ hash }: Pick<ApiKeyRecord, 'hash'>): Promise<ApiKeyRecord> {
  return (await ways.exit(() => readItem<ApiKeyRecord>(store.table, { hash })))!;
}

function done(action: AuditLine['action'], keyId: string): AuditLine {
  return { time, caller, action, keyId };
}

/** A rotation came to its end: both keys work, the old one not for ever, and what was shown otherwise does not. */
async function expectRotated(old: IssuedKey): Promise<void> {
  const { successor, expiresAt, rotatedBy } = await stored(old.record);
  expect(rotatedBy).toEqual(done('rotate', old.record.keyId));
  const keyIds = (await listed()).map(({ keyId }) => keyId);
  expect(new Set(keyIds)).toEqual(new Set([old.record.keyId, successor!.keyId]));
  expect(keyIds).toHaveLength(2);
  const working = await Array.fromAsync(shown, async (key) => ((await works(key)) ? [sha256(key)] : []));
  expect(working.flat()).toEqual([successor!.hash]);
  expect(await works(old.key)).toBe(true);
  expect(await works(old.key, new Date(expiresAt!))).toBe(false);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('issuing a key', () => {
  test('stores what tells it again and who issued it, and not the key', async () => {
    const { key, record } = await issue();
    expect(await works(key)).toBe(true);
    expect(record).toStrictEqual({
      hash: sha256(key),
      keyId: expect.stringMatching(/^key_[0-9a-f]{20}$/),
      stage: store.stage,
      owner: 'Acme',
      start: key.slice(0, `pets_${store.stage}_`.length + 4),
      createdAt: record.createdBy.time,
      createdBy: done('issue', record.keyId),
    });
    expect(await stored(record)).toStrictEqual(record);
    const table = await database.send(new ScanCommand({ TableName: store.table }));
    expect(JSON.stringify(table.Items)).not.toContain(key.slice(-32));
  });

  test('gives each its own key and id, which tells nothing of the key', async () => {
    stopClock();
    const [one, other] = [await issue(), await issue()];
    expect(one.key).not.toBe(other.key);
    expect(one.record.keyId).not.toBe(other.record.keyId);
    expect(sha256(one.key)).not.toContain(one.record.keyId.slice('key_'.length));
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
    let pages = 0;
    const list = await via(
      (_call, execute, { input }) => {
        input.Limit = 2; // in place of the megabyte that ends a page
        pages += 1;
        return execute();
      },
      () => Array.fromAsync(listApiKeys(store)),
    );
    expect(list.map(({ keyId }) => keyId)).toEqual(issued.toReversed());
    expect(pages).toBe(3);
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
        if (call === 1) await ways.exit(() => revokeApiKey(store, record, caller)); // after the index was asked
        return result;
      },
      () => findApiKey(store, record.keyId),
    );
    expect(revoked.revokedBy).toEqual(done('revoke', record.keyId));
  });

  test('in its own stage alone', async () => {
    const { record } = await issue();
    startStage();
    const unknown = new UsageError(
      `There is no key ${record.keyId} in ${store.stage}: look at the list, which may lack a new one for some seconds.`,
    );
    await expect(findApiKey(store, record.keyId)).rejects.toThrow(unknown);
    await expect(findRotatableKey(store, record.keyId)).rejects.toThrow(unknown);
  });
});

describe('rotating a key', () => {
  test('gives its owner a successor, and both work until the overlap is over', async () => {
    const now = stopClock();
    const old = await issue();
    const { key, record } = await rotate(old.record.keyId, { overlap: 3_600_000 });
    const end = now + 3_600_000;
    expect(record).toStrictEqual({
      hash: sha256(key),
      keyId: expect.stringMatching(/^key_[0-9a-f]{20}$/),
      stage: store.stage,
      owner: 'Acme',
      start: key.slice(0, `pets_${store.stage}_`.length + 4),
      createdAt: record.createdBy.time,
      createdBy: done('rotate', record.keyId),
    });
    expect(await stored(record)).toStrictEqual(record);
    expect(await stored(old.record)).toStrictEqual({
      ...old.record,
      expiresAt: new Date(end).toISOString(),
      successor: { keyId: record.keyId, hash: record.hash },
      rotatedBy: done('rotate', old.record.keyId),
    });
    await expectRotated(old);
    expect(await works(old.key, new Date(end - 1))).toBe(true);
    expect(await works(key, new Date(end))).toBe(true);
  });

  test('gives the successor the lifetime of the key, or another', async () => {
    const now = stopClock();
    const { record } = await issue(90 * DAY_MILLISECONDS);
    const lifetime = Date.parse(record.expiresAt!) - Date.parse(record.createdAt);
    stopClock(now + 80 * DAY_MILLISECONDS);
    const alike = await rotate(record.keyId);
    expect(Date.parse(alike.record.expiresAt!)).toBe(now + 80 * DAY_MILLISECONDS + lifetime);
    const other = await rotate(alike.record.keyId, { lifetime: 3_600_000 });
    expect(Date.parse(other.record.expiresAt!)).toBe(now + 80 * DAY_MILLISECONDS + 3_600_000);
  });

  test('leaves its end to a key that expires within the overlap', async () => {
    const old = await issue(3_600_000);
    await rotate(old.record.keyId);
    expect((await stored(old.record)).expiresAt).toBe(old.record.expiresAt);
    await expectRotated(old);
  });

  test('may be done with the successor in turn, and not again with the key', async () => {
    const old = await issue();
    const { record } = await rotate(old.record.keyId);
    const before = await stored(old.record);
    await expect(rotate(old.record.keyId)).rejects.toThrow(
      new UsageError(
        `The key ${old.record.keyId} was rotated on ${before.rotatedBy!.time} by ${caller}: its successor is ${record.keyId}.`,
      ),
    );
    expect(await stored(old.record)).toEqual(before);
    await expectRotated(old);
    await rotate(record.keyId);
    expect(await listed()).toHaveLength(3);
  });

  test('is refused of a key that does not work', async () => {
    const expired = await issue(0);
    const revoked = await issue();
    await revokeApiKey(store, revoked.record, caller);
    await expect(rotate(expired.record.keyId)).rejects.toThrow(
      new UsageError(`The key ${expired.record.keyId} is expired: issue a new one to Acme.`),
    );
    await expect(rotate(revoked.record.keyId)).rejects.toThrow(
      new UsageError(`The key ${revoked.record.keyId} is revoked: issue a new one to Acme.`),
    );
    expect(await listed()).toHaveLength(2);
  });

  test('is refused when the key is revoked meanwhile, and leaves no successor', async () => {
    const { record } = await issue();
    const found = await findRotatableKey(store, record.keyId);
    await revokeApiKey(store, record, caller);
    await expect(beginRotation(store, found, { lifetime: undefined, caller })).rejects.toThrow(
      new UsageError(
        `Somebody else rotates or revokes ${record.keyId} at the same time: look at the list, and try again.`,
      ),
    );
    expect(await listed()).toMatchObject([{ keyId: record.keyId }]);
    expect((await stored(record)).successor).toBeUndefined();
  });

  test('does not make a key work that is revoked before its end is set', async () => {
    const { key, record } = await issue();
    const found = await findRotatableKey(store, record.keyId);
    const successor = await beginRotation(store, found, { lifetime: undefined, caller });
    await revokeApiKey(store, record, caller);
    const expiresAt = endOfOverlap(found, DAY_MILLISECONDS);
    await completeRotation(store, found, successor.record, { expiresAt, caller });
    expect(await works(key)).toBe(false);
    expect(await works(successor.key)).toBe(true);
  });

  test('never stores a successor that was taken back before', async () => {
    const old = await issue();
    let hash = '';
    const rotation = via(
      async (_call, execute, command) => {
        if (command instanceof PutCommand) {
          const successor = command.input.Item as ApiKeyRecord;
          ({ hash } = successor);
          await ways.exit(() => withdrawApiKey(store.table, successor, 'rotate', caller));
        }
        return execute();
      },
      () => rotate(old.record.keyId),
    );
    await expect(rotation).rejects.toThrow('Somebody else rotates');
    expect(await stored({ hash })).toEqual({
      hash,
      revokedAt: time,
      revokedBy: { ...done('rotate', ''), keyId: expect.stringMatching(/^key_/) },
    });
    expect(await listed()).toHaveLength(1);
    await rotate(old.record.keyId);
    await expectRotated(old);
  });
});

/** The operator has seen the key of this one. */
async function leaveUnfinished({ record }: IssuedKey): Promise<void> {
  const found = await findRotatableKey(store, record.keyId);
  const { key } = await beginRotation(store, found, { lifetime: undefined, caller });
  shown.push(key);
}

const situations: [string, (old: IssuedKey) => Promise<void>][] = [
  ['the first of its key', async () => {}],
  ['after one that was cut off', leaveUnfinished],
];

const cutOff = new Error('The command ended here.');

describe('a rotation that was cut off at any of its calls to the database', () => {
  describe.each(situations)('%s', (_what, prepare) => {
    test.each([
      ['before', false],
      ['after', true],
    ])(
      'leaves the key working, and the next completes it, cut off %s the call',
      async (_when, isExecuted) => {
        for (let end = 1, isThrough = false; !isThrough; end += 1) {
          startStage();
          const old = await issue();
          await prepare(old);

          const watched =
            (last: number): Way =>
            async (call, execute) => {
              if (call === last && !isExecuted) throw cutOff;
              const result = await execute();
              expect(await works(old.key)).toBe(true);
              if (call === last) throw cutOff;
              return result;
            };
          const [outcome] = await Promise.allSettled([via(watched(end), () => rotate(old.record.keyId))]);
          isThrough = outcome.status === 'fulfilled';
          const ended = { status: 'rejected', reason: cutOff };
          expect(outcome).toMatchObject(isThrough ? { status: 'fulfilled' } : ended);

          const { rotatedBy, expiresAt } = await stored(old.record);
          expect(expiresAt === undefined).toBe(rotatedBy === undefined);
          if (!rotatedBy) await via(watched(0), () => rotate(old.record.keyId));
          await expectRotated(old);
        }
      },
    );
  });
});

const repeated: Way = async (_call, execute) => {
  await execute();
  return execute();
};

describe('calls whose answers get lost, so that they are repeated,', () => {
  test.each(situations)('change nothing of a rotation: %s', async (_what, prepare) => {
    await via(repeated, async () => {
      const old = await issue();
      await prepare(old);
      await rotate(old.record.keyId);
      await expectRotated(old);
    });
  });

  test('change nothing of a revocation', async () => {
    const { key, record } = await issue();
    const revoked = await via(repeated, () => revokeApiKey(store, record, caller));
    expect(revoked.revokedBy).toEqual(done('revoke', record.keyId));
    expect(await works(key)).toBe(false);
  });
});

/** Runs it twice: the one pauses before its call `from` for the other, that before its call `until` for the one to end. */
async function interleave(
  run: () => Promise<unknown>,
  from: number,
  until: number,
): Promise<{ outcomes: PromiseSettledResult<unknown>[]; hasPaused: boolean }> {
  const paused = Promise.withResolvers<void>();
  let hasPaused = false;
  let other: Promise<unknown> | undefined;
  function waitForTheOne(): Promise<unknown> {
    hasPaused = true;
    paused.resolve();
    return Promise.allSettled([one]);
  }
  function beginTheOther(): Promise<unknown> {
    other = pauseBefore(until, waitForTheOne, run);
    return Promise.race([paused.promise, Promise.allSettled([other])]);
  }
  const one: Promise<unknown> = pauseBefore(from, beginTheOther, run);
  const outcomes = await Promise.allSettled([one]);
  if (other) outcomes.push(...(await Promise.allSettled([other])));
  return { outcomes, hasPaused };
}

describe('two rotations of one key at the same time', () => {
  test.each(situations)('give it one successor, and the other says so: %s', async (_what, prepare) => {
    // The first two calls of each find the key. Each pair of the others is tried until it has no such call.
    for (let from = 3, areTwo = true; areTwo; from += 1) {
      for (let until = 3, isMore = true; isMore; until += 1) {
        startStage();
        const old = await issue();
        await prepare(old);
        const { outcomes, hasPaused } = await interleave(() => rotate(old.record.keyId), from, until);
        isMore = hasPaused;
        areTwo = outcomes.length === 2;
        const lost = outcomes.filter(({ status }) => status === 'rejected');
        const refused = { status: 'rejected', reason: expect.any(UsageError) };
        expect({ from, until, lost }).toEqual({ from, until, lost: areTwo ? [refused] : [] });
        await expectRotated(old);
      }
    }
  });
});

describe('revoking a key', () => {
  test('ends it at once, and is recorded', async () => {
    const { key, record } = await issue();
    const revoked = await revokeApiKey(store, record, caller);
    expect(await works(key)).toBe(false);
    expect(revoked).toStrictEqual({
      ...record,
      revokedAt: revoked.revokedBy!.time,
      revokedBy: done('revoke', record.keyId),
    });
    expect(await stored(record)).toStrictEqual(revoked);
    expect(await listed()).toEqual([revoked]);
  });

  test('again, and by somebody else, leaves the first record', async () => {
    const { record } = await issue();
    const revoked = await revokeApiKey(store, record, caller);
    expect(await revokeApiKey(store, record, 'arn:aws:iam::123456789012:user/other')).toEqual(revoked);
    expect(await stored(record)).toEqual(revoked);
  });

  test('is done to one that has expired too', async () => {
    const { record } = await issue(0);
    expect(await revokeApiKey(store, record, caller)).toMatchObject({
      expiresAt: record.expiresAt,
      revokedAt: time,
    });
  });

  test('is done when its answer got lost, and when it is done again', async () => {
    for (const end of [1, 2]) {
      startStage();
      const { key, record } = await issue();
      const cut = via(
        async (call, execute) => {
          await execute();
          if (call === end) throw cutOff;
        },
        () => revokeApiKey(store, record, caller),
      );
      await expect(cut).rejects.toBe(cutOff);
      expect(await works(key)).toBe(false);
      const revoked = await stored(record);
      expect(await revokeApiKey(store, record, 'arn:aws:iam::123456789012:user/other')).toEqual(revoked);
    }
  });
});

describe('a key that is taken back', () => {
  test('never works, is neither listed nor found, and keeps its record', async () => {
    const { key, record } = await issue();
    await withdrawApiKey(store.table, record, 'issue', caller);
    expect(await works(key)).toBe(false);
    expect(await listed()).toEqual([]);
    await expect(findApiKey(store, record.keyId)).rejects.toThrow('There is no key');
    const { stage: _listedIn, ...others } = record;
    const withdrawn = await stored(record);
    expect(withdrawn).toStrictEqual({
      ...others,
      revokedAt: withdrawn.revokedBy!.time,
      revokedBy: done('issue', record.keyId),
    });
  });
});
