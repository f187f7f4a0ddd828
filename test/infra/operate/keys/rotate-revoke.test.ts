import { describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { IssuedKey } from '../../../../infra/operate/keys/lifecycle.ts';
import { beginRotation, findRotatableKey } from '../../../../infra/operate/keys/rotation.ts';
import { type ApiKeyRecord, hashOf } from '../../../../shared/storage/api-keys.ts';
import {
  caller,
  documentedActions,
  hoursBetween,
  issued,
  kept,
  listed,
  run,
  runFaulty,
  runUnread,
  store,
  usedActions,
  useDeployedKeys,
  working,
} from '../../../support/deployed-keys.ts';
import { done, refusal } from '../../../support/outcomes.ts';
import type { Outcome, RunningModule } from '../../../support/run-command.ts';

jest.setTimeout(120_000); // for processes that start on a busy machine
useDeployedKeys();

const DAY = 86_400_000;
/** Words of the calls that store a key, and that give a rotated one its end. */
const PUT = '"Item":';
const LAST_WRITE = 'rotatedBy = ';
const GOING_ON = 'Going on to the end of this step …\n';

interface Held {
  running: RunningModule;
  /** Lets the call go on. */
  release: () => void;
}

/** Runs the command; when it makes a call with these words, holds that and does something meanwhile. */
function whileHeld(
  parameters: string[],
  words: string,
  act: (held: Held) => Promise<unknown>,
): Promise<Outcome> {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  function fault(): Promise<undefined> {
    reach();
    return released;
  }
  return runFaulty(parameters, { at: words, fault }, async (running) => {
    await reached;
    await act({ running, release: () => release(undefined) });
  });
}

/** Presses Ctrl-C, and waits until the command says that it goes on. npm may send it once more. */
async function interrupt({ process: child }: RunningModule): Promise<void> {
  const said = once(child.stderr!, 'data');
  child.kill('SIGINT');
  expect(String(await said)).toBe(GOING_ON);
  child.kill('SIGINT');
}

/** A key whose rotation was cut off when its successor was shown. */
async function halfRotated(owner: string): Promise<{ old: IssuedKey; successor: IssuedKey }> {
  const old = await issued(owner);
  return { old, successor: await beginRotation(store, old.record, { caller }) };
}

describe('rotates a key', () => {
  test('for as long as it was issued for, with a day in which both work', async () => {
    const { key, record } = await issued('Rotated', 90 * DAY);
    const stdout = done(await run(['rotate', record.keyId]));
    const shown = /^key +(\S+)$/m.exec(stdout)![1]!;
    const [successor, predecessor] = [await working(shown), await working(key)];
    expect(stdout).toMatch(
      new RegExp(`^replaces +${record.keyId}, which works until ${predecessor!.expiresAt}$`, 'm'),
    );
    expect(stdout.split(shown)).toHaveLength(2);

    const { keyId, createdAt } = successor!;
    expect(successor).toMatchObject({
      owner: 'Rotated',
      createdBy: { time: createdAt, caller, action: 'rotate', keyId },
    });
    expect(hoursBetween(createdAt, successor!.expiresAt)).toBe(90 * 24);
    const { rotatedBy, expiresAt } = predecessor!;
    expect(rotatedBy).toEqual({ time: expect.any(String), caller, action: 'rotate', keyId: record.keyId });
    expect(hoursBetween(rotatedBy!.time, expiresAt)).toBe(24);

    expect(await listed('Rotated')).toHaveLength(2);
    expect(JSON.stringify(await kept('Rotated'))).not.toContain(shown.slice(20));
  });

  test('as told, for programs', async () => {
    const { key, record } = await issued('Told');
    const parameters = ['rotate', record.keyId, '--overlap', '2h', '--expires-in', '30d', '--json'];
    const shown = JSON.parse(done(await run(parameters)));
    const { rotatedBy, expiresAt } = (await working(key))!;
    const { keyId } = (await working(shown.key))!;
    expect(shown).toMatchObject({ keyId, owner: 'Told', replaces: { keyId: record.keyId, expiresAt } });
    expect(hoursBetween(shown.createdAt, shown.expiresAt)).toBe(30 * 24);
    expect(hoursBetween(rotatedBy!.time, expiresAt)).toBe(2);
  });

  test('not when nobody reads the successor, and says how to go on', async () => {
    const { key, record } = await issued('Unread', 90 * DAY);
    const { code, stderr } = await runUnread(['rotate', record.keyId, '--quiet']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^The rotation of .* is not complete: rotate it again, .* --complete if .*\.\n.*EPIPE.*\n$/,
      ),
    });
    const { rotatedBy, expiresAt } = (await working(key))!;
    expect({ rotatedBy, expiresAt }).toEqual({ rotatedBy: undefined, expiresAt: record.expiresAt });
  });

  test('anew when the command was killed before the key got its end', async () => {
    const { key, record } = await issued('Cut off');
    const { keyId } = record;
    const killed = await whileHeld(['rotate', keyId, '--quiet'], LAST_WRITE, async ({ running }) => {
      running.process.kill('SIGKILL');
    });
    const abandoned = killed.stdout.trim();
    expect(await working(key)).toEqual({
      ...record,
      successor: { keyId: expect.any(String), hash: hashOf(abandoned) },
    });

    const { code, stdout, stderr } = await run(['rotate', keyId, '--quiet']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^A rotation of .* was cut off: the key that it may have shown stops working\.\n$/,
      ),
    });
    const successor = await working(stdout.trim());
    expect((await listed('Cut off')).map((one) => one.keyId)).toEqual([successor!.keyId, keyId]);
    expect(await working(key)).toHaveProperty('expiresAt');
    expect(await working(abandoned)).toBeUndefined();
  });

  test('not again when the command was killed as the key had got its end', async () => {
    const { key, record } = await issued('Cut off late');
    const killed = await runFaulty(
      ['rotate', record.keyId, '--quiet'],
      { at: LAST_WRITE, fault: () => 'executed, answer delayed beyond the time-out' },
      async ({ process: child }) => {
        while (child.exitCode === null && !(await working(key))?.rotatedBy) await setImmediate();
        child.kill('SIGKILL');
      },
    );
    const { keyId } = (await working(killed.stdout.trim()))!;
    expect(refusal(await run(['rotate', record.keyId]))).toMatch(new RegExp(`its successor is ${keyId}\\.$`));
    expect(await listed('Cut off late')).toHaveLength(2);
  });

  test('to the key that was shown when it was cut off, for people', async () => {
    const { old, successor } = await halfRotated('Kept');
    const { keyId } = old.record;
    const stdout = done(await run(['rotate', keyId, '--complete', '--overlap', '2h']));
    const { rotatedBy, expiresAt } = (await working(old.key))!;
    expect(stdout).toBe(
      `The key ${keyId} works until ${expiresAt}; its successor is ${successor.record.keyId}.\n`,
    );
    expect(rotatedBy).toMatchObject({ caller, action: 'rotate', keyId });
    expect(hoursBetween(rotatedBy!.time, expiresAt)).toBe(2);
    expect(await working(successor.key)).toEqual(successor.record);
    expect(await listed('Kept')).toHaveLength(2);
  });

  test('to that key for programs', async () => {
    const { old, successor } = await halfRotated('Kept by a program');
    const { keyId } = old.record;
    const shown = JSON.parse(done(await run(['rotate', keyId, '--complete', '--json'])));
    const { rotatedBy, expiresAt } = (await working(old.key))!;
    expect(shown).toMatchObject({ keyId, expiresAt, rotatedBy, successor: successor.record.keyId });
  });

  test('unless somebody else takes over, and says that what it has shown is of no use', async () => {
    const { key, record } = await issued('Taken over');
    const { keyId } = record;
    const outcome = await whileHeld(['rotate', keyId, '--quiet'], LAST_WRITE, async ({ release }) => {
      const found = await findRotatableKey(store, keyId);
      await beginRotation(store, found, { caller });
      release();
    });
    expect(outcome).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^pets_staging_/),
      stderr: `Somebody else rotates ${keyId} too, and has taken over: use no key that was shown here.\n`,
    });
    expect(await working(outcome.stdout.trim())).toBeUndefined();
    expect(await working(key)).not.toHaveProperty('expiresAt');
  });
});

describe('goes on to the end of its step at Ctrl-C', () => {
  test('when it issues a key', async () => {
    const outcome = await whileHeld(['issue', '--owner', 'Awaited', '--quiet'], PUT, async (held) => {
      await interrupt(held.running);
      held.release();
    });
    expect(outcome).toMatchObject({ code: 0, stderr: GOING_ON });
    expect(await working(outcome.stdout.trim())).toMatchObject({ owner: 'Awaited' });
  });

  test('when it rotates one', async () => {
    const { key, record } = await issued('Awaited too');
    const outcome = await whileHeld(['rotate', record.keyId, '--quiet'], PUT, async (held) => {
      await interrupt(held.running);
      held.release();
    });
    expect(outcome).toMatchObject({ code: 0, stderr: GOING_ON });
    const successor = await working(outcome.stdout.trim());
    expect(await working(key)).toMatchObject({
      rotatedBy: { caller },
      successor: { keyId: successor!.keyId },
    });
  });
});

describe('revokes a key', () => {
  test('when somebody says yes', async () => {
    const { key, record } = await issued('Asked');
    const { keyId, start: firstCharacters } = record;
    const { code, stdout, stderr } = await run(['revoke', keyId], { input: 'y\n' });
    expect(stderr).toBe(`Revoke ${keyId} of Asked (${firstCharacters}…)? [y/N] `);
    expect(await working(key)).toBeUndefined();
    const [{ revokedAt, revokedBy }] = (await listed('Asked')) as [ApiKeyRecord];
    expect(revokedBy).toEqual({ time: revokedAt, caller, action: 'revoke', keyId });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(`^The key ${keyId} of Asked was revoked at ${revokedAt} by ${caller}\\.\\n.* 60 seconds `),
      ),
    });
  });

  test.each([
    ['somebody says no', 'n\n'],
    ['nobody is there to answer', ''],
  ])('not when %s', async (_what, input) => {
    const { key, record } = await issued('Spared');
    const { code, stdout, stderr } = await run(['revoke', record.keyId], { input });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/\[y\/N\] \n?Nothing was revoked\. Where nobody can answer, add --yes\.\n$/);
    expect(await working(key)).toEqual(record);
  });

  test('unasked when told so, and one that is revoked as it was; a successor works on', async () => {
    const { old, successor } = await halfRotated('Unasked');
    const warning = `Its successor ${successor.record.keyId} works on: revoke it too if it leaked, or if nobody has it.\n`;
    const { code, stdout, stderr } = await run(['revoke', old.record.keyId, '--yes', '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: warning });
    const revoked = JSON.parse(stdout);
    expect(revoked).toMatchObject({ keyId: old.record.keyId, state: 'revoked', revokedBy: { caller } });
    expect(await working(old.key)).toBeUndefined();
    expect(await working(successor.key)).toEqual(successor.record);
    // By whomever: the first counts.
    const again = await run(['revoke', old.record.keyId, '--json']);
    expect(JSON.parse(again.stdout)).toEqual(revoked);
  });
});

// Of all that was done above.
test('takes all that its documentation has operators ask for', () => {
  expect([...usedActions].toSorted()).toEqual(documentedActions.toSorted());
});
