import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readLocalService, writeLocalService } from '../../infra/local/local-service.ts';
import { hashOf } from '../../shared/api-keys.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { active, dataFolder, issue, stored, useKeysInTables } from './keys-in-tables.ts';
import { startModule } from '../support/run-command.ts';

useKeysInTables();

test.each(['issue', 'rotate'])('npm run keys -- %s shows the new key despite Ctrl-C', async (action) => {
  const { record } = await issue();
  const service = readLocalService(dataFolder);
  // The proxy sends two signals before the request that stores the new key reaches the database.
  const proxy = await startFaultProxy(service.databaseEndpoint, async (_call, read) => {
    if (!(await read()).includes('"Item":')) return undefined;
    child.kill('SIGINT');
    await once(child.stderr!, 'data');
    child.kill('SIGINT'); // npm can repeat the signal.
    return undefined;
  });
  writeLocalService(dataFolder, { ...service, databaseEndpoint: proxy.endpoint });
  const command = action === 'issue' ? ['issue', '--owner', 'Acme'] : ['rotate', record.keyId];
  const options = ['--stage', 'local', '--data', dataFolder, '--json'];
  const { process: child, ended } = startModule('infra/operate/keys.ts', [...command, ...options]);
  const { code, stdout, stderr } = await ended;
  await proxy.close();

  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Finishing this step before exiting …\n' });
  const { keyId, replaces } = await stored({ hash: hashOf(JSON.parse(stdout).key) });
  expect(await active()).toEqual([record.keyId, keyId].toSorted());
  expect((await stored(record)).successor?.keyId).toBe(replaces && keyId);
});
