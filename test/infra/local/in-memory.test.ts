import { afterAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { cpSync, existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import {
  defaultDataFolder,
  readLocalService,
  TEMPORARY_PREFIX,
  writeLocalService,
} from '../../../infra/local/local-service.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { done, type Outcome, errorOutput, runModule } from '../../support/run-command.ts';
import { itemsPath } from '../../support/sample.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Isolates this test from other local services, whose working files are in the default temporary folder. */
const TMPDIR = temporaryFolder();
process.env['TMPDIR'] = TMPDIR;
/** Options that prevent commands from using the developer's own service, if one exists. */
const noOptions = existsSync(join(defaultDataFolder(), 'service.json')) ? ['--data', 'memory'] : [];
const services: LocalService[] = [];
afterAll(() => Promise.all(services.map(({ stop }) => stop())));

async function start(): Promise<LocalService> {
  const service = await startLocalService();
  services.push(service);
  return service;
}

function issue(...options: string[]): Promise<Outcome> {
  const parameters = ['issue', '--stage', 'local', '--owner', 'Acme', '--quiet', ...options];
  return runModule('infra/operate/keys/main.ts', parameters, { TMPDIR });
}

async function expectToWork(key: string, { request }: LocalService): Promise<void> {
  const { status } = await request(itemsPath, { headers: { Authorization: `Bearer ${key.trim()}` } });
  expect(status).toBe(200);
}

// Each test depends on the previous test.
test('commands use the in-memory service if only one is running', async () => {
  const sentence = 'No local service is running in memory. Start one with npm start.';
  expect(errorOutput(await issue('--data', 'memory'))).toBe(sentence);
  const service = await start();
  const [folder] = globSync(join(TMPDIR, `${TEMPORARY_PREFIX}*`));
  const left = join(TMPDIR, `${TEMPORARY_PREFIX}killed`);
  cpSync(folder!, left, { recursive: true });
  // These files simulate a killed service whose port a different database now uses.
  const { databaseEndpoint, ...others } = readLocalService(folder!);
  writeLocalService(left, { ...others, databaseEndpoint: `${new URL(databaseEndpoint).origin}/killed` });

  for (const options of [noOptions, ['--data', 'memory']]) {
    await expectToWork(done(await issue(...options)), service);
  }
  expect(existsSync(left)).toBe(true);
});

test('commands require --data if several in-memory services are running', async () => {
  const { baseUrl } = await start();
  const sentence = errorOutput(await issue('--data', 'memory'));
  expect(sentence).toMatch(/^Several local services are running\. Choose a folder with --data \(.*\)\.$/);
  const [, folder = ''] = new RegExp(`${baseUrl} on ([^,)]+)`).exec(sentence)!;
  await expectToWork(done(await issue('--data', folder)), services[1]!);
});

test('a service stops if the program that reads its output exits', async () => {
  const [service] = services;
  const ended = once(service!.process, 'close');
  service!.process.stdout.destroy();
  // Sends requests, because the service detects its closed output only when it prints a line.
  const requests = [1, 2].map(() => service!.request(itemsPath).catch(() => undefined));
  expect([await ended, await Promise.all(requests)]).toMatchObject([[0, null], {}]);
});
