import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { revokeApiKey } from '../../../../infra/operate/keys/lifecycle.ts';
import { rotateApiKey } from '../../../../infra/operate/keys/rotation.ts';
import type { ApiKeyRecord } from '../../../../shared/storage/api-keys.ts';
import {
  caller,
  documentedActions,
  hoursBetween,
  issued,
  kept,
  listed,
  run,
  runHeld,
  runUnread,
  store,
  usedActions,
  useDeployedKeys,
  working,
} from '../../../support/deployed-keys.ts';
import { done, refusal } from '../../../support/outcomes.ts';
import type { RunningModule } from '../../../support/run-command.ts';

useDeployedKeys();

const DAY = 86_400_000;
/** Words of the call that stores a key, and of the call that sets the expiry of a rotated key. */
const PUT = '"Item":';
const LAST_WRITE = 'rotatedBy = ';
const GOING_ON = 'Going on to the end of this step …\n';

/** Presses Ctrl-C, and waits until the command says that it goes on. npm may send it once more. */
async function interrupt({ process: child }: RunningModule): Promise<undefined> {
  const said = once(child.stderr!, 'data');
  child.kill('SIGINT');
  expect(String(await said)).toBe(GOING_ON);
  child.kill('SIGINT');
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
    expect(successor).toMatchObject({ owner: 'Rotated', createdBy: { caller, action: 'rotate' } });
    expect(hoursBetween(successor!.createdAt, successor!.expiresAt)).toBe(90 * 24);
    const { rotatedBy, expiresAt } = predecessor!;
    expect(rotatedBy).toMatchObject({ caller, action: 'rotate', keyId: record.keyId });
    expect(hoursBetween(rotatedBy!.time, expiresAt)).toBe(24);
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

  test('not when nobody reads the successor, which is revoked', async () => {
    const { key, record } = await issued('Unread', 90 * DAY);
    const line = refusal(await runUnread(['rotate', record.keyId, '--quiet']));
    const [successor] = (await listed('Unread')) as [ApiKeyRecord];
    expect(line).toMatch(
      new RegExp(`^The key ${successor.keyId} .* was revoked, so do not use it\\. .*EPIPE`),
    );
    expect(successor.revokedBy).toMatchObject({ caller, action: 'revoke' });
    expect(await working(key)).toEqual(record);
  });

  test('again after the command was killed before its last write, which the list shows', async () => {
    const { key, record } = await issued('Killed');
    const { keyId } = record;
    const killed = await runHeld(['rotate', keyId, '--quiet'], LAST_WRITE, async (running) => {
      running.process.kill('SIGKILL');
      await running.ended;
      return 'reset before the request is read';
    });
    expect(await working(key)).toEqual(record);
    const extra = (await working(killed.stdout.trim()))!;
    const rows = done(await run(['list', '--owner', 'Killed'])).split('\n');
    expect(rows[1]).toMatch(new RegExp(`^${extra.keyId} .* active +${keyId} +Killed$`));
    expect(rows[2]).toMatch(new RegExp(`^${keyId} .* active +- +Killed$`));

    done(await run(['revoke', extra.keyId, '--yes']));
    const successor = await working(done(await run(['rotate', keyId, '--quiet'])).trim());
    expect(await working(key)).toMatchObject({ successor: { keyId: successor!.keyId } });
    expect(await working(killed.stdout.trim())).toBeUndefined();
  });

  test('once, though the response to its last write is lost', async () => {
    const { key, record } = await issued('Lost');
    const rotation = runHeld(
      ['rotate', record.keyId, '--quiet'],
      LAST_WRITE,
      async () => 'executed, answer dropped',
    );
    const { keyId } = (await working(done(await rotation).trim()))!;
    expect(await working(key)).toMatchObject({ successor: { keyId } });
    expect(refusal(await run(['rotate', record.keyId]))).toMatch(new RegExp(`its successor is ${keyId}\\.$`));
  });

  test.each<[string, (record: ApiKeyRecord) => Promise<unknown>, RegExp]>([
    [
      'rotates',
      (record) => rotateApiKey(store, record, { overlap: DAY, caller }, async () => {}),
      /was revoked, so do not use it\. The key .* was rotated on .*: its successor is key_\w+\.\n$/,
    ],
    [
      'revokes',
      (record) => revokeApiKey(store, record, caller),
      /was revoked, so do not use it\. The key .* is revoked: issue a new one to Contested\.\n$/,
    ],
  ])('unless another operator %s it meanwhile, and says so', async (_what, act, sentences) => {
    const { record } = await issued('Contested');
    const outcome = await runHeld(['rotate', record.keyId, '--quiet'], LAST_WRITE, async () => {
      await act(record);
      return undefined;
    });
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringMatching(sentences) });
    expect(await working(outcome.stdout.trim())).toBeUndefined();
  });
});

describe('goes on to the end of its step at Ctrl-C', () => {
  test.each([
    ['issues', async () => ['issue', '--owner', 'Awaited']],
    ['rotates', async () => ['rotate', (await issued('Awaited')).record.keyId]],
  ])('when it %s a key', async (_what, prepare) => {
    const outcome = await runHeld([...(await prepare()), '--quiet'], PUT, interrupt);
    expect(outcome).toMatchObject({ code: 0, stderr: GOING_ON });
    const made = await working(outcome.stdout.trim());
    expect(made).toMatchObject({ owner: 'Awaited' });
    const replaced = (await listed('Awaited')).find(({ keyId }) => keyId === made!.replaces);
    expect(replaced?.successor?.keyId).toBe(made!.replaces && made!.keyId);
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

  test('unasked when told so, and only once; its successor works on', async () => {
    const { key, record } = await issued('Unasked');
    const { keyId } = record;
    const successor = await working(done(await run(['rotate', keyId, '--quiet'])).trim());
    const { code, stdout, stderr } = await run(['revoke', keyId, '--yes', '--json']);
    const warning = `Its successor is ${successor!.keyId}: revoke it too if it leaked.\n`;
    expect({ code, stderr }).toEqual({ code: 0, stderr: warning });
    const revoked = JSON.parse(stdout);
    expect(revoked).toMatchObject({ keyId, state: 'revoked', revokedBy: { caller } });
    expect(await working(key)).toBeUndefined();
    expect(await listed('Unasked')).toContainEqual(successor);
    const again = await run(['revoke', keyId, '--json']);
    expect(JSON.parse(again.stdout)).toEqual(revoked);
  });
});

// Of all that was done above.
test('takes all that its documentation has operators ask for', () => {
  expect([...usedActions].toSorted()).toEqual(documentedActions.toSorted());
});
