import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { UsageError } from '../../../../infra/operate/command.ts';
import { type IssuedKey, revokeApiKey, withdrawApiKey } from '../../../../infra/operate/keys/lifecycle.ts';
import {
  beginRotation,
  completeRotation,
  endOfOverlap,
  findBegunSuccessor,
  findRotatableKey,
} from '../../../../infra/operate/keys/rotation.ts';
import { type ApiKeyRecord, hashOf, stateOf } from '../../../../shared/storage/api-keys.ts';
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

/** What the rotations of a test have shown so far. */
let shown: string[];
beforeEach(() => {
  shown = [];
});

interface RotateOptions {
  overlap?: number;
  lifetime?: number;
}

/** Rotates a key as the command does. */
async function rotate(
  { record: { keyId } }: IssuedKey,
  { overlap = DAY_MILLISECONDS, lifetime }: RotateOptions = {},
): Promise<IssuedKey> {
  const predecessor = await findRotatableKey(store, keyId);
  const successor = await beginRotation(store, predecessor, { lifetime, caller });
  shown.push(successor.key);
  const expiresAt = endOfOverlap(predecessor, overlap);
  await completeRotation(store, predecessor, successor.record, { expiresAt, caller });
  return successor;
}

/** Begins a rotation, whose key the operator sees, and no more. */
async function leaveUnfinished({ record }: IssuedKey): Promise<IssuedKey> {
  const successor = await beginRotation(store, record, { caller });
  shown.push(successor.key);
  return successor;
}

/** Completes a rotation that was left unfinished, as the command does; gives the successor. */
async function complete({ record: { keyId } }: IssuedKey): Promise<ApiKeyRecord> {
  const predecessor = await findRotatableKey(store, keyId);
  const successor = await findBegunSuccessor(store, predecessor);
  const expiresAt = endOfOverlap(predecessor, DAY_MILLISECONDS);
  await completeRotation(store, predecessor, successor, { expiresAt, caller });
  return successor;
}

/** A rotation came to its end: both keys work, the old one not for ever, and what was shown otherwise does not. */
async function expectRotated(old: IssuedKey): Promise<void> {
  const record = await stored(old.record);
  const { successor, expiresAt, rotatedBy } = record;
  expect(rotatedBy).toEqual(auditLine('rotate', old.record.keyId));
  const keyIds = (await listed()).map(({ keyId }) => keyId);
  expect(new Set(keyIds)).toEqual(new Set([old.record.keyId, successor!.keyId]));
  expect(keyIds).toHaveLength(2);
  const working = await Array.fromAsync(shown, async (key) => ((await works(key)) ? [hashOf(key)] : []));
  expect(working.flat()).toEqual([successor!.hash]);
  expect(stateOf(record, new Date())).toBe('active');
  expect(stateOf(record, new Date(expiresAt!))).toBe('expired');
}

describe('rotating a key', () => {
  test('gives its owner a successor, and both work until the overlap is over', async () => {
    const now = stopClock();
    const old = await issue();
    const successor = await rotate(old, { overlap: 3_600_000 });
    const { key, record } = successor;
    const end = now + 3_600_000;
    expect(record).toStrictEqual(expectedRecord(successor, 'rotate'));
    expect(await stored(record)).toStrictEqual(record);
    expect(await stored(old.record)).toStrictEqual({
      ...old.record,
      expiresAt: new Date(end).toISOString(),
      successor: { keyId: record.keyId, hash: record.hash },
      rotatedBy: auditLine('rotate', old.record.keyId),
    });
    await expectRotated(old);
    expect(await works(old.key, new Date(end - 1))).toBe(true);
    expect(await works(old.key, new Date(end))).toBe(false);
    expect(await works(key, new Date(end))).toBe(true);
  });

  test('gives the successor the lifetime of the key, or another', async () => {
    const now = stopClock();
    const old = await issue(90 * DAY_MILLISECONDS);
    const lifetime = Date.parse(old.record.expiresAt!) - Date.parse(old.record.createdAt);
    stopClock(now + 80 * DAY_MILLISECONDS);
    const alike = await rotate(old);
    expect(Date.parse(alike.record.expiresAt!)).toBe(now + 80 * DAY_MILLISECONDS + lifetime);
    const other = await rotate(alike, { lifetime: 3_600_000 });
    expect(Date.parse(other.record.expiresAt!)).toBe(now + 80 * DAY_MILLISECONDS + 3_600_000);
  });

  test('leaves its end to a key that expires within the overlap', async () => {
    const old = await issue(3_600_000);
    await rotate(old);
    expect((await stored(old.record)).expiresAt).toBe(old.record.expiresAt);
    await expectRotated(old);
  });

  test('may be done with the successor in turn, and not again with the key', async () => {
    const old = await issue();
    const successor = await rotate(old);
    const before = await stored(old.record);
    await expect(rotate(old)).rejects.toThrow(
      new UsageError(
        `The key ${old.record.keyId} was rotated on ${before.rotatedBy!.time} by ${caller}: its successor is ${successor.record.keyId}.`,
      ),
    );
    expect(await stored(old.record)).toEqual(before);
    await expectRotated(old);
    await rotate(successor);
    expect(await listed()).toHaveLength(3);
  });

  test('is refused of a key that is not there or does not work', async () => {
    const expired = await issue(0);
    const revoked = await issue();
    await revokeApiKey(store, revoked.record, caller);
    await expect(rotate(expired)).rejects.toThrow(
      new UsageError(`The key ${expired.record.keyId} is expired: issue a new one to Acme.`),
    );
    await expect(rotate(revoked)).rejects.toThrow(
      new UsageError(`The key ${revoked.record.keyId} is revoked: issue a new one to Acme.`),
    );
    expect(await listed()).toHaveLength(2);
    startStage();
    await expect(rotate(expired)).rejects.toThrow(`There is no key ${expired.record.keyId} in`);
  });

  test('is refused when the key is revoked meanwhile, and leaves no successor', async () => {
    const { record } = await issue();
    const found = await findRotatableKey(store, record.keyId);
    await revokeApiKey(store, record, caller);
    await expect(beginRotation(store, found, { caller })).rejects.toThrow(
      new UsageError(
        `Somebody else rotates or revokes ${record.keyId} at the same time: look at the list, and try again.`,
      ),
    );
    expect(await listed()).toMatchObject([{ keyId: record.keyId }]);
    expect((await stored(record)).successor).toBeUndefined();
  });

  test('gives no end to a key that is revoked before, and says so', async () => {
    const old = await issue();
    const found = await findRotatableKey(store, old.record.keyId);
    const successor = await leaveUnfinished(old);
    const revoked = await revokeApiKey(store, old.record, caller);
    const expiresAt = endOfOverlap(found, DAY_MILLISECONDS);
    await expect(completeRotation(store, found, successor.record, { expiresAt, caller })).rejects.toThrow(
      new UsageError(
        `The key ${found.keyId} was revoked at ${revoked.revokedAt} by ${caller}; its successor is ${successor.record.keyId}.`,
      ),
    );
    expect(await stored(old.record)).toEqual({ ...revoked, successor: expect.anything() });
    expect(await works(old.key)).toBe(false);
    expect(await works(successor.key)).toBe(true);
  });

  test('gives a key its end once, and says who has, should another complete it', async () => {
    const old = await issue();
    const found = await findRotatableKey(store, old.record.keyId);
    const { record } = await leaveUnfinished(old);
    stopClock();
    await complete(old);
    const before = await stored(old.record);
    stopClock(Date.now() + 1);
    const expiresAt = endOfOverlap(found, DAY_MILLISECONDS);
    await expect(completeRotation(store, found, record, { expiresAt, caller })).rejects.toThrow(
      `The key ${found.keyId} was rotated on ${before.rotatedBy!.time} by ${caller}: `,
    );
    expect(await stored(old.record)).toEqual(before);
  });

  test('never stores a successor that was taken back before', async () => {
    const old = await issue();
    let hash = '';
    const rotation = via(
      async (_call, execute, command) => {
        if (command instanceof PutCommand) {
          const successor = command.input.Item as ApiKeyRecord;
          ({ hash } = successor);
          await aside(() => withdrawApiKey(store.table, successor, caller));
        }
        return execute();
      },
      () => rotate(old),
    );
    await expect(rotation).rejects.toThrow('Somebody else rotates');
    expect(await stored({ hash })).toEqual({
      hash,
      revokedAt: time,
      revokedBy: { ...auditLine('withdraw', ''), keyId: expect.stringMatching(/^key_/) },
    });
    expect(await listed()).toHaveLength(1);
    await rotate(old);
    await expectRotated(old);
  });
});

/** With the number of the first call that writes. */
const situations: [string, (old: IssuedKey) => Promise<unknown>, number][] = [
  ['the first of its key', async () => {}, 3],
  ['after one that was cut off', leaveUnfinished, 4],
];

describe('a rotation that was cut off after any of its calls to the database', () => {
  test.each(situations)('leaves the key working, and the next completes it: %s', async (_what, prepare) => {
    for (let end = 1, isThrough = false; !isThrough; end += 1) {
      startStage();
      shown = [];
      const old = await issue();
      await prepare(old);

      /** The key works after every call. */
      const watched =
        (last: number): Way =>
        async (call, execute) => {
          const result = await execute();
          expect(await works(old.key)).toBe(true);
          if (call === last) throw cutOff;
          return result;
        };
      const [outcome] = await Promise.allSettled([via(watched(end), () => rotate(old))]);
      isThrough = outcome.status === 'fulfilled';
      const ended = { status: 'rejected', reason: cutOff };
      expect(outcome).toMatchObject(isThrough ? { status: 'fulfilled' } : ended);

      const { rotatedBy, expiresAt } = await stored(old.record);
      expect(expiresAt === undefined).toBe(rotatedBy === undefined);
      if (!rotatedBy) await via(watched(0), () => rotate(old));
      await expectRotated(old);
    }
  });
});

function noneWasBegun({ record: { keyId } }: IssuedKey): UsageError {
  return new UsageError(`No rotation of ${keyId} was begun whose key works: rotate it without --complete.`);
}

describe('a rotation that was cut off when its key was shown', () => {
  test('is completed with that key, and not again', async () => {
    const old = await issue();
    const successor = await leaveUnfinished(old);
    expect(await complete(old)).toEqual(successor.record);
    await expectRotated(old);
    const rotated = `The key ${old.record.keyId} was rotated on `;
    await expect(rotate(old)).rejects.toThrow(rotated);
    await expect(complete(old)).rejects.toThrow(rotated);
    await expectRotated(old);
  });

  test('is not completed with a key that does not work', async () => {
    const old = await issue();
    const { record } = await leaveUnfinished(old);
    await revokeApiKey(store, record, caller);
    await expect(complete(old)).rejects.toThrow(noneWasBegun(old));
    await rotate(old);
    expect((await stored(old.record)).rotatedBy).toEqual(auditLine('rotate', old.record.keyId));
  });

  test('is not completed when there was none, or its key was not stored', async () => {
    const old = await issue();
    await expect(complete(old)).rejects.toThrow(noneWasBegun(old));
    // Finding the key takes two calls, naming the successor one.
    const named = via(cutOffAfter(3), () => rotate(old));
    await expect(named).rejects.toBe(cutOff);
    await expect(complete(old)).rejects.toThrow(noneWasBegun(old));
    expect((await stored(old.record)).expiresAt).toBeUndefined();
  });

  test('is not completed once another run has begun to take it over', async () => {
    const old = await issue();
    await leaveUnfinished(old);
    // The third call looks at the earlier successor, the fourth marks it as abandoned; it works as yet.
    const takeover = via(cutOffAfter(4), () => rotate(old));
    await expect(takeover).rejects.toBe(cutOff);
    expect(await works(shown[0]!)).toBe(true);
    await expect(complete(old)).rejects.toThrow(noneWasBegun(old));
    await rotate(old);
    await expectRotated(old);
  });

  test.each<[string, (successor: IssuedKey) => Promise<unknown>, boolean]>([
    ['and works', async () => {}, true],
    ['and was revoked since', ({ record }) => revokeApiKey(store, record, caller), false],
  ])(
    'is completed, and not begun again, when its key was rotated in turn %s',
    async (_state, end, isLeft) => {
      const old = await issue();
      const successor = await leaveUnfinished(old);
      const { keyId } = successor.record;
      await rotate(successor);
      await end(successor);
      const before = await stored(old.record);
      await expect(rotate(old)).rejects.toThrow(
        new UsageError(
          `Its successor ${keyId} was rotated itself, so that somebody has it: use --complete to end ${old.record.keyId}.`,
        ),
      );
      expect(await stored(old.record)).toEqual(before);
      expect(await complete(old)).toMatchObject({ keyId });
      expect(await listed()).toHaveLength(3);
      expect(await Array.fromAsync([old.key, ...shown], (key) => works(key))).toEqual([true, isLeft, true]);
    },
  );
});

const twice: Way = async (_call, execute) => {
  await execute();
  return execute();
};

test.each(situations)('calls that are repeated change nothing of a rotation: %s', async (_what, prepare) => {
  await via(twice, async () => {
    const old = await issue();
    await prepare(old);
    await rotate(old);
    await expectRotated(old);
  });
});

interface Interleaved {
  outcomes: PromiseSettledResult<unknown>[];
  /** Whether the one has come to its call `from`, and the other to its call `until`. */
  areTwo: boolean;
  hasPaused: boolean;
}

/**
 * Runs it twice: the one pauses at its call `from` for the other, which pauses before its call `until` for the one to end.
 *
 * @param isRepeated whether the one makes its call before the pause too, for its answer to get lost.
 */
async function interleave(
  run: () => Promise<unknown>,
  { from, until, isRepeated }: { from: number; until: number; isRepeated: boolean },
): Promise<Interleaved> {
  const paused = Promise.withResolvers<void>();
  let hasPaused = false;
  let other: Promise<unknown> | undefined;

  function beginTheOther(): Promise<unknown> {
    other = via(async (call, execute) => {
      if (call === until) {
        hasPaused = true;
        paused.resolve();
        await Promise.allSettled([one]);
      }
      return execute();
    }, run);
    return Promise.race([paused.promise, Promise.allSettled([other])]);
  }
  const one: Promise<unknown> = via(async (call, execute) => {
    if (call === from && isRepeated) await execute();
    if (call === from) await aside(beginTheOther);
    return execute();
  }, run);
  const outcomes = await Promise.allSettled([one]);
  if (other) outcomes.push(...(await Promise.allSettled([other])));
  return { outcomes, areTwo: other !== undefined, hasPaused };
}

describe('two rotations of one key at the same time', () => {
  test.each([
    ...situations.map(([what, prepare, first]) => ({ what, prepare, first, isRepeated: false })),
    { what: 'whose calls are repeated', prepare: async () => {}, first: 3, isRepeated: true },
  ])('give it one successor, and the other says so: $what', async ({ prepare, first, isRepeated }) => {
    // Each pair of calls that write is tried, until there is no such call.
    for (let from = first, areTwo = true; areTwo; from += 1) {
      for (let until = first, isMore = true; isMore; until += 1) {
        startStage();
        shown = [];
        const old = await issue();
        await prepare(old);
        const tried = await interleave(() => rotate(old), { from, until, isRepeated });
        ({ areTwo, hasPaused: isMore } = tried);
        const lost = tried.outcomes.filter(({ status }) => status === 'rejected');
        const refused = { status: 'rejected', reason: expect.any(UsageError) };
        expect({ from, until, lost }).toEqual({ from, until, lost: areTwo ? [refused] : [] });
        await expectRotated(old);
      }
    }
  });
});
