import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemblyWithoutCache } from '../support/assembly.ts';
import { reportFigure } from '../support/proofs-reporter.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { done, type RunningModule, startModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// While the command rotates, clients use the old key and the new one before each of its calls to the database, and are never
// refused. The authorizer's decisions are not cached here, so that each request shows what the table holds.

const folder = temporaryFolder();
const data = join(folder, 'data');
/** Has the record of the service too, but with the proxy in the place of its database. */
const behindProxy = mkdtempSync(join(folder, 'proxy-'));

let service: LocalService;
/** What the command lists of the key that the service has issued to itself. */
let ownRecord: any;
let proxy: FaultProxy;
/** Precedes each call of the command to the database. */
let beforeCall: (body: string) => Promise<unknown> = async () => {};

beforeAll(async () => {
  service = await startLocalService('--data', data, '--assembly', await assemblyWithoutCache(folder));
  const note = JSON.parse(readFileSync(join(data, 'service.json'), 'utf8'));
  proxy = await startFaultProxy(note.databaseEndpoint, async (_call, read) => {
    await beforeCall(await read());
    return undefined;
  });
  const list = ['list', '--owner', 'local development', '--json'];
  [ownRecord] = JSON.parse(done(await start(list, data).ended));
  const changed = { ...note, databaseEndpoint: proxy.endpoint };
  writeFileSync(join(behindProxy, 'service.json'), JSON.stringify(changed));
});
afterAll(async () => {
  await proxy.close();
  await service.stop();
});

/** Starts the command on the local service, for a developer whose own settings lead elsewhere. */
function start(parameters: string[], folderOfNote = behindProxy): RunningModule {
  return startModule(
    'infra/operate/keys/main.ts',
    [...parameters, '--stage', 'local', '--data', folderOfNote],
    {
      AWS_PROFILE: 'production',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_REGION: 'eu-central-1',
    },
  );
}

async function statusOf(key: string): Promise<number> {
  const headers = { Authorization: `Bearer ${key}` };
  return (await fetch(`${service.baseUrl}/pets?limit=1`, { headers })).status;
}

test('a client is never refused while its key is rotated, by the old key or the new one', async () => {
  const { key, keyId } = JSON.parse(done(await start(['issue', '--owner', 'Acme', '--json']).ended));
  const { process: child, ended } = start(['rotate', keyId, '--quiet']);
  const shown = once(child.stdout!, 'data').then(([text]) => String(text).trim());
  const statuses: number[][] = [];
  beforeCall = async (body) => {
    const isLast = body.includes('rotatedBy = '); // which sets the expiry of the old key
    statuses.push([await statusOf(key), ...(isLast ? [await statusOf(await shown)] : [])]);
  };
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
  statuses.push([await statusOf(key), await statusOf(await shown)]);
  expect(new Set(statuses.flat())).toEqual(new Set([200]));
  reportFigure(import.meta.filename, `${statuses.flat().length} requests during a rotation, none rejected`);
  // At least: the key is found, the key is read, the successor is stored, the expiry is set.
  expect(statuses.length).toBeGreaterThan(4);
  expect(statuses.at(-2)).toHaveLength(2);
});

test('a client is refused as soon as its key is revoked, which the test above relies on', async () => {
  expect(ownRecord.createdBy.caller).toMatch(/^arn:aws:iam::\d+:user\/operator$/);
  expect(await statusOf(service.apiKey)).toBe(200);
  done(await start(['revoke', ownRecord.keyId, '--yes'], data).ended);
  expect(await statusOf(service.apiKey)).toBe(401);
});
