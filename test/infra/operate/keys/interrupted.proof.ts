import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readLocalService, writeLocalService } from '../../../../infra/local/local-service.ts';
import { hashOf } from '../../../../shared/storage/api-keys.ts';
import { type FaultProxy, startFaultProxy } from '../../../support/fault-proxy.ts';
import { active, dataFolder, issue, stored, useKeysInTables } from './keys-in-tables.ts';
import { type Outcome, type RunningModule, startModule } from '../../../support/run-command.ts';

useKeysInTables();

const FINISHING = 'Finishing this step before exiting …\n';

let proxy: FaultProxy | undefined;
afterEach(async () => proxy?.close());

/** Runs `npm run keys` in a separate process. Delays the request that stores a key until `act` has finished. */
async function runHeld(
  parameters: string[],
  act: (running: RunningModule) => Promise<undefined>,
): Promise<Outcome> {
  const service = readLocalService(dataFolder);
  proxy = await startFaultProxy(service.databaseEndpoint, async (_call, read) =>
    (await read()).includes('"Item":') ? act(running) : undefined,
  );
  writeLocalService(dataFolder, { ...service, databaseEndpoint: proxy.endpoint });
  const local = ['--stage', 'local', '--data', dataFolder];
  const running = startModule('infra/operate/keys/main.ts', [...parameters, ...local]);
  return running.ended;
}

test.each(['issue', 'rotate'])('keys -- %s shows the new key despite Ctrl-C', async (action) => {
  const { record } = await issue();
  const command = action === 'issue' ? ['issue', '--owner', 'Acme'] : ['rotate', record.keyId];
  const outcome = await runHeld([...command, '--quiet'], async ({ process: child }) => {
    const message = once(child.stderr!, 'data');
    child.kill('SIGINT');
    expect(String(await message)).toBe(FINISHING);
    child.kill('SIGINT'); // sent a second time, as npm may do
    return undefined;
  });
  expect(outcome).toMatchObject({ code: 0, stderr: FINISHING });
  const { keyId, replaces } = await stored({ hash: hashOf(outcome.stdout.trim()) });
  expect(await active()).toEqual([record.keyId, keyId].toSorted());
  expect((await stored(record)).successor?.keyId).toBe(replaces && keyId);
});
