import { afterAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { join } from 'node:path';
import { readLocalService, writeLocalService } from '../../infra/local/local-service.ts';
import { assemblyWithoutCache } from '../support/assembly.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startLocalService } from '../support/local-service.ts';
import { done, type RunningModule, startModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { listPath } from './requested-items.ts';

// Sends requests with the old key before each database call of a rotation, and with the new key before the last call.
// Authorizer decisions are not cached, so each response shows the current state of the API keys table.

const folder = temporaryFolder();
const data = join(folder, 'data');
/** Data folder for the command. Its connection data contain the URL of the proxy instead of the database. */
const proxyData = temporaryFolder();

/** Function that runs before each database call of the command, with the body of the call as its argument. */
let beforeCall: (body: string) => Promise<unknown> = async () => {};

const service = await startLocalService('--data', data, '--assembly', await assemblyWithoutCache(folder));
const local = readLocalService(data);
const proxy = await startFaultProxy(local.databaseEndpoint, async (_call, read) => {
  await beforeCall(await read());
  return undefined;
});
writeLocalService(proxyData, { ...local, databaseEndpoint: proxy.endpoint });
afterAll(async () => {
  await proxy.close();
  await service.stop();
});

/** Starts `npm run keys` for the local service. The command must ignore the AWS settings in the environment. */
function start(...parameters: string[]): RunningModule {
  return startModule('infra/operate/keys/main.ts', [...parameters, '--stage', 'local', '--data', proxyData], {
    AWS_PROFILE: 'production',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
    AWS_REGION: 'eu-central-1',
  });
}

async function statusOf(key: string): Promise<number> {
  const headers = { Authorization: `Bearer ${key}` };
  return (await fetch(`${service.baseUrl}${listPath}?limit=1`, { headers })).status;
}

test('the old and the new key work during a rotation', async () => {
  const { key, keyId } = JSON.parse(done(await start('issue', '--owner', 'Acme', '--json').ended));
  const { process: child, ended } = start('rotate', keyId, '--quiet');
  const newKey = once(child.stdout!, 'data').then(([text]) => String(text).trim());
  const statuses: number[][] = [];
  beforeCall = async (body) => {
    const isLast = body.includes('rotatedBy = '); // the write that sets the old key's expiry
    statuses.push([await statusOf(key), ...(isLast ? [await statusOf(await newKey)] : [])]);
  };
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
  statuses.push([await statusOf(key), await statusOf(await newKey)]);
  expect(new Set(statuses.flat())).toEqual(new Set([200]));
  // The command finds and reads the old key, stores the new key, and sets the old key's expiry. These steps need at
  // least four calls. The last element of `statuses` contains the statuses after the rotation.
  expect(statuses.length).toBeGreaterThan(4);
  expect(statuses.at(-2)).toHaveLength(2);
});
