import { afterAll, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { request as requestByHttp } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stringifyJson } from '../../shared/contract/json.ts';
import { changedAssembly, sharedSynthesis } from '../support/assembly.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { newPet } from '../support/pets.ts';
import { commandEnvironment } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// These tests start the local service twice with the same data folder: with `npm start`, and with the command that
// `npm start` runs. Each test depends on the previous test, so a single test cannot run alone.

const folder = temporaryFolder();
const data = join(folder, 'data');
const keyFile = join(data, 'api-key');
const serviceFile = join(data, 'service.json');
/** Assembly of a stage with the setting `publicUrl`, whose functions link to the public URL on AWS. */
const assembly = changedAssembly(
  await sharedSynthesis(),
  join(folder, 'cdk.out'),
  /(?="POWERTOOLS_SERVICE_NAME": )/g,
  '"PUBLIC_URL": "https://example.com/shop", ',
);
/** A developer's AWS settings for other projects, which the local service must ignore. */
const otherSettings = {
  AWS_PROFILE: 'work',
  AWS_REGION: 'eu-west-1',
  AWS_SESSION_TOKEN: 'token',
  AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
};

let npm: ChildProcess | undefined;
let output = '';
let baseUrl = '';
let apiKey = '';
let pet: unknown;
let restarted: LocalService | undefined;
afterAll(async () => {
  // With `detached`, npm and the service are in a process group of their own, so this signal ends both.
  if (npm) process.kill(-npm.pid!, 'SIGKILL');
  await restarted?.stop('SIGKILL');
});

function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  return fetch(`${baseUrl}${path}`, { headers, ...init });
}

/** Waits until npm's output matches `pattern`. @throws Error with the output if npm exits before */
async function printed(pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = pattern.exec(output);
    if (found) return found;
    if (npm!.exitCode !== null) throw new Error(`npm start exited:\n${output}`);
    await Promise.race([once(npm!.stdout!, 'data'), once(npm!, 'close')]);
  }
}

test('npm start prints the base URL and an API key, which only this user can read', async () => {
  const options = ['--port', '0', '--data', data, '--assembly', assembly];
  npm = spawn('npm', ['start', '--', ...options], {
    detached: true,
    env: commandEnvironment(otherSettings),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  npm.stdout!.on('data', (chunk) => (output += String(chunk)));
  [, baseUrl = '', apiKey = ''] = await printed(/base URL {2}(\S+)\s+API key {3}(\S+)\s[^]*Import/);
  expect(output).toContain(`curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/pets\n`);
  expect(readFileSync(keyFile, 'utf8')).toBe(apiKey);
  for (const file of [keyFile, serviceFile]) expect(statSync(file).mode.toString(8)).toBe('100600');
});

test('the local service of a stage with a public URL links to itself', async () => {
  const created = await send('/pets', { method: 'POST', body: stringifyJson(newPet('Rex')) });
  pet = await created.json();
  expect([created.status, pet]).toMatchObject([201, { name: 'Rex' }]);
  const location = created.headers.get('Location');
  expect(location).toBe(`${baseUrl}/pets/${(pet as { id: number }).id}`);
});

test('the local service prints a line for each request, without the query or the API key', async () => {
  const start = output.length;
  await send('/pets?limit=1000');
  await send('/nowhere', { method: 'PUT' });
  await send('/pets', { headers: { Authorization: `Bearer ${apiKey}x` } });
  await printed(/ 401 \d/);
  const lines = output.slice(start);
  expect(lines.match(/(?<=^\S+Z )\S+ \S+ \d+(?= \d+\.\d ms$)/gm)).toEqual(
    expect.arrayContaining(['GET /v1/pets 400', 'PUT /v1/nowhere 404', 'GET /v1/pets 401']),
  );
  expect(lines).not.toContain(apiKey.slice(0, 20));
  expect(lines).not.toMatch(/limit|_aws/);
});

test('the local service stops if npm gets SIGTERM', async () => {
  const ended = once(npm!, 'close'); // The event follows the exit of all processes that have npm's standard output.
  npm!.kill('SIGTERM');
  await ended;
  npm = undefined;
  await expect(send('/pets')).rejects.toThrow('fetch failed');
  expect(existsSync(serviceFile)).toBe(false);
});

test('the local service keeps the data and the API key after a restart', async () => {
  restarted = await startLocalService('--data', data, '--assembly', assembly);
  expect(restarted.apiKey).toBe(apiKey);
  expect(await (await restarted.request('/pets')).json()).toEqual([pet]);
});

test('the local service completes a request in progress after Ctrl-C', async () => {
  const { process: child, request, ...restart } = restarted!;
  const headers = { Authorization: `Bearer ${restart.apiKey}`, Expect: '100-continue' };
  const adding = requestByHttp(`${restart.baseUrl}/pets`, { method: 'POST', headers });
  adding.flushHeaders();
  await once(adding, 'continue');

  const ended = once(child, 'close');
  const status = once(adding, 'response').then(([{ statusCode }]) => statusCode as number);
  // A Ctrl-C can arrive twice: from the terminal and from npm.
  child.kill('SIGINT');
  child.kill('SIGTERM');
  // The loop ends when the service has received a signal and accepts no new requests.
  while (await request('/').catch(() => undefined)) await setTimeout(5);
  adding.end(stringifyJson(newPet('Mia')));
  expect([await status, await ended]).toEqual([201, [0, null]]);
});
