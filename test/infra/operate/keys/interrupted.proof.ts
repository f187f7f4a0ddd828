import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readLocalService, writeLocalService } from '../../../../infra/local/local-service.ts';
import { hashOf } from '../../../../shared/storage/api-keys.ts';
import { type ChooseFault, type FaultProxy, startFaultProxy } from '../../../support/fault-proxy.ts';
import { active, dataFolder, issue, keys, stored, useKeysInTables, works } from './keys-in-tables.ts';
import { done, type Outcome, type RunningModule, startModule } from '../../../support/run-command.ts';

useKeysInTables();

/** Text that occurs only in the request that stores a key. */
const FIRST_WRITE = '"Item":';
/** Text that occurs only in the request that sets the expiry of a rotated key. */
const LAST_WRITE = 'rotatedBy = ';
const FINISHING = 'Finishing this step before exiting …\n';

let proxy: FaultProxy | undefined;
afterEach(async () => proxy?.close());

/**
 * Runs `npm run keys` in a separate process. Delays the first request that contains `text` until `act` has finished.
 *
 * @param act a function that can return a fault for the delayed request
 */
async function runHeld(
  parameters: string[],
  text: string,
  act: (running: RunningModule) => ReturnType<ChooseFault>,
): Promise<Outcome> {
  const service = readLocalService(dataFolder);
  let isHeld = false;
  proxy = await startFaultProxy(service.databaseEndpoint, async (_call, read) => {
    if (isHeld || !(await read()).includes(text)) return undefined;
    isHeld = true;
    return act(running);
  });
  writeLocalService(dataFolder, { ...service, databaseEndpoint: proxy.endpoint });
  const local = ['--stage', 'local', '--data', dataFolder];
  const running = startModule('infra/operate/keys/main.ts', [...parameters, ...local]);
  const outcome = await running.ended;
  writeLocalService(dataFolder, service);
  return outcome;
}

test('a rotation can be retried if its process was killed before the last write', async () => {
  const { key, record } = await issue();
  const { keyId } = record;
  const killed = await runHeld(['rotate', keyId, '--quiet'], LAST_WRITE, async (running) => {
    running.process.kill('SIGKILL');
    await running.ended;
    return 'connection reset before execution' as const;
  });
  expect(await stored(record)).toEqual(record);
  const extra = await stored({ hash: hashOf(killed.stdout.trim()) });
  expect(await active()).toEqual([keyId, extra.keyId].toSorted());
  const rows = done(await keys(['list'])).split('\n');
  expect(rows[1]).toMatch(new RegExp(`^${extra.keyId} .* active +${keyId} +Acme$`));
  expect(rows[2]).toMatch(new RegExp(`^${keyId} .* active +- +Acme$`));

  done(await keys(['revoke', extra.keyId, '--yes', '--json']));
  const successor = await stored({ hash: hashOf(done(await keys(['rotate', keyId, '--quiet'])).trim()) });
  expect(await works(key)).toBe(true);
  expect(await stored(record)).toMatchObject({ successor: { keyId: successor.keyId } });
});

test.each(['issue', 'rotate'])('keys -- %s shows the new key despite Ctrl-C', async (action) => {
  const { record } = await issue();
  const command = action === 'issue' ? ['issue', '--owner', 'Acme'] : ['rotate', record.keyId];
  const outcome = await runHeld([...command, '--quiet'], FIRST_WRITE, async ({ process: child }) => {
    const message = once(child.stderr!, 'data');
    child.kill('SIGINT');
    expect(String(await message)).toBe(FINISHING);
    child.kill('SIGINT'); // npm may send the signal again
    return undefined;
  });
  expect(outcome).toMatchObject({ code: 0, stderr: FINISHING });
  const { keyId, replaces } = await stored({ hash: hashOf(outcome.stdout.trim()) });
  expect(await active()).toEqual([record.keyId, keyId].toSorted());
  expect((await stored(record)).successor?.keyId).toBe(replaces && keyId);
});
