import { afterAll, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  defaultDataFolder,
  readLocalService,
  TEMPORARY_PREFIX,
  writeLocalService,
} from '../../infra/local/local-service.ts';
import { readOnlyTest } from '../../infra/operate/read-only-test.ts';
import { keyPrefix } from '../../shared/api-keys.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { firstCollection } from '../collections/all.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { done, errorOutput, type Outcome, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { path, newItem } = firstCollection;
/** Temporary folder for these tests, so that commands do not find in-memory services that a developer has started. */
const TMPDIR = temporaryFolder();
process.env['TMPDIR'] = TMPDIR;
/**
 * The fewest options with which a command uses the service in memory. If a developer's service uses the default data
 * folder, a command without options would use the developer's service, so the command needs `--data memory`.
 */
const noOptions = existsSync(join(defaultDataFolder(), 'service.json')) ? ['--data', 'memory'] : [];

let service: LocalService;
let production: LocalService;
afterAll(() => Promise.all([service?.stop('SIGKILL'), production?.stop('SIGKILL')]));

function issue(...options: string[]): Promise<Outcome> {
  const parameters = ['issue', '--stage', 'local', '--owner', 'Acme', '--json', ...options];
  return runModule('infra/operate/keys.ts', parameters);
}

/** Issues a key with the given options and expects the service to accept the key. */
async function expectToIssue({ request }: LocalService, ...options: string[]): Promise<void> {
  const { key } = JSON.parse(done(await issue(...options)));
  expect((await request(path, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);
}

// Each test depends on the previous test, so a single test cannot run alone.
test('commands use the only in-memory service that is running', async () => {
  const message = 'No local service is running in memory. Run npm start -- --data memory.';
  expect(errorOutput(await issue('--data', 'memory'))).toBe(message);
  service = await startLocalService();
  const [folder = ''] = globSync(join(TMPDIR, `${TEMPORARY_PREFIX}*`));
  const left = join(TMPDIR, `${TEMPORARY_PREFIX}killed`);
  cpSync(folder, left, { recursive: true });
  // The folder `left` simulates a killed service whose port a different database now uses.
  const { databaseEndpoint, ...others } = readLocalService(folder);
  writeLocalService(left, { ...others, databaseEndpoint: `${new URL(databaseEndpoint).origin}/killed` });

  await expectToIssue(service, ...noOptions);
  await expectToIssue(service, '--data', 'memory');
  expect(existsSync(left)).toBe(true);
});

test('a key that can only read lists items, and passes the read-only test, but creates none', async () => {
  const { key } = JSON.parse(done(await issue(...noOptions, '--read-only')));
  jest.spyOn(console, 'log').mockReturnValue();
  const { baseUrl, request } = service;
  const headers = { Authorization: `Bearer ${key}` };
  const body = stringifyJson(newItem('a text'));
  const created = await request(path, { method: 'POST', headers, body });
  expect([created.status, await created.json()]).toEqual([
    403,
    { code: 'forbidden', message: 'This API key can only read. Use a key that can also write.', status: 403 },
  ]);
  expect(await (await request(path, { headers })).json()).toEqual([]);
  const stage = { stage: 'staging', baseUrl, apiKey: key };
  await expect(readOnlyTest(stage, new AbortController().signal)).resolves.toBeUndefined();
});

let folder: string;
test('commands require a data folder if several in-memory services are running', async () => {
  production = await startLocalService('--stage', 'production');
  const message = errorOutput(await issue('--data', 'memory'));
  expect(message).toMatch(/^Several local services are running: .*\. Choose one with --data FOLDER\.$/);
  [, folder = ''] = new RegExp(`${production.baseUrl} in ([^,]+?)(?:, |\\. Choose)`).exec(message)!;
  await expectToIssue(production, '--data', folder);
});

test('a service stops if the program that reads its output exits', async () => {
  const ended = once(service.process, 'close');
  service.process.stdout.destroy();
  // These requests make the service print lines, because it detects its closed output only when it prints a line.
  const requests = [1, 2].map(() => service.request(path).catch(() => undefined));
  expect([await ended, await Promise.all(requests)]).toMatchObject([[0, null], {}]);
});

test('a service completes a request in progress and deletes its files after SIGINT and SIGTERM', async () => {
  const { apiKey, baseUrl, process: child, output, request } = production;
  expect(apiKey).toMatch(new RegExp(`^${keyPrefix('production')}`));
  expect(readFileSync(join(folder, 'api-key'), 'utf8')).toBe(apiKey);
  await request(`${path}?limit=1000`); // The function prints a metric, which the service must omit.
  const headers = { Authorization: `Bearer ${apiKey}`, Expect: '100-continue' };
  const adding = httpRequest(`${baseUrl}${path}`, { method: 'POST', headers });
  adding.flushHeaders();
  await once(adding, 'continue');

  const ended = once(child, 'close');
  const status = once(adding, 'response').then(
    ([{ statusCode }]) => statusCode,
    (error: Error) => error.message,
  );
  // The test sends two signals, because after Ctrl-C in a terminal, npm can send a second signal.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) child.kill(signal);
  // The loop ends when the service has received a signal and accepts no new requests.
  while (await request('/').catch(() => undefined)) await setTimeout(5);
  adding.end(stringifyJson(newItem('a text')));
  expect(await status).toBe(201);
  expect(await ended).toEqual([0, null]);
  expect(output()).not.toMatch(/exited with|Error|_aws|Not run locally:\n/);
  expect(existsSync(folder)).toBe(false);
});
