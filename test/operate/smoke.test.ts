import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listApiKeys } from '../../infra/operate/key-store.ts';
import { collections } from '../../shared/contract/operations.ts';
import { generateApiKey, hashOf } from '../../shared/api-keys.ts';
import { database } from '../../shared/storage/database.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { errorOutput, runModule, startModule } from '../support/run-command.ts';
import { useRealTables } from '../support/tables-for-tests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startFakeAws } from './fake-aws.ts';

const command = 'infra/operate/smoke.ts';
const staging = ['--stage', 'staging'];
const folder = temporaryFolder();
const called = join(folder, 'called');
const stub = `
  import { writeFileSync } from 'node:fs';
  if (process.argv[1].endsWith('jest.js')) {
    const { DEPLOYED_STAGE, BASE_URL, API_KEY } = process.env;
    const parts = [DEPLOYED_STAGE, BASE_URL, API_KEY, ...process.argv.slice(2)];
    writeFileSync(${JSON.stringify(called)}, parts.join(' '));
    process.exit(3);
  }`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(stub)}`;

const caller = 'arn:aws:sts::123456789012:assumed-role/Operator/ada';
const baseUrl = 'https://example.com/v1';
const outputs = { BaseUrl: baseUrl, ApiKeysTable: '' };
const aws = await startFakeAws({ outputs, caller });
afterAll(() => aws.close());

const httpTests = '--config test/http.config.js --runInBand';

function environment(API_KEY = '') {
  const { AWS_ENDPOINT_URL_DYNAMODB = '' } = process.env;
  return { ...aws.environment, AWS_ENDPOINT_URL_DYNAMODB, API_KEY, NODE_OPTIONS };
}

function smoke(parameters: string[], apiKey?: string) {
  return runModule(command, [...staging, ...parameters], environment(apiKey));
}

/** Returns the stage's keys, newest first. */
function keys() {
  return Array.fromAsync(listApiKeys({ stage: 'staging', table: outputs.ApiKeysTable, database }));
}

test.each(['local', 'Staging', generateApiKey('staging')])(
  'the smoke test rejects the stage %j',
  async (stage) => {
    expect(errorOutput(await runModule(command, ['--stage', stage]))).toMatch(
      /^--stage must be a stage of infra\/stages\.ts \(staging, .*\) or another deployed stage, whose name must be a letter and up to 29 more letters and digits, in lowercase, but not 'account', 'local' or a version such as 'v1'\.$/,
    );
  },
);

test('the smoke test needs a stage', async () => {
  expect(errorOutput(await runModule(command, []))).toBe(
    '--stage is missing. Use a stage of infra/stages.ts, such as staging.',
  );
});

const { plural } = collections[0];

test.each([
  [
    'localhost',
    'BASE_URL must be an https URL, or an http URL with a loopback host, such as http://localhost:3000/v1.',
  ],
  ['http://127.0.0.1:2', 'BASE_URL must end with /v1.'],
  [
    'http://127.0.0.1:2/v1',
    `http://127.0.0.1:2/v1 returned no list of ${plural}. There was no response (ECONNREFUSED). Check BASE_URL and API_KEY.`,
  ],
])('the smoke test rejects the base URL %s', async (BASE_URL, message) => {
  const settings = { BASE_URL, API_KEY: generateApiKey('staging') };
  const { code, stderr } = await runModule(command, staging, settings);
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${message}\n` });
});

test('the smoke test rejects the tests that store items for a stage that retains its data', async () => {
  const outcome = await runModule(command, ['--stage', 'production', 'test/http/paths']);
  expect(errorOutput(outcome)).toBe(
    'The tests would leave items in production, which retains its data. Append --read-only.',
  );
});

test('the smoke test rejects a pattern beside --read-only', async () => {
  const outcome = await runModule(command, [...staging, '--read-only', 'some/test']);
  expect(errorOutput(outcome)).toMatch(/^--read-only and PATTERN cannot be combined, /);
});

// These tests replace Jest with a stub that fails. smoke.proof.ts runs the actual HTTP tests.
describe('the smoke test of a stage', () => {
  useRealTables();
  beforeAll(() => {
    outputs.ApiKeysTable = process.env['API_KEYS_TABLE']!;
  });

  test('runs one test file at a time with the key in API_KEY', async () => {
    const key = generateApiKey('staging');
    expect(await smoke(['some', 'tests'], key)).toEqual({
      code: 3,
      stdout: `Running the HTTP tests against ${baseUrl} …\n${baseUrl} failed the HTTP tests.\n`,
      stderr: '',
    });
    const patterns = '--testPathPatterns=some --testPathPatterns=tests';
    expect(readFileSync(called, 'utf8')).toBe(`true ${baseUrl} ${key} ${httpTests} ${patterns}`);
  });

  test('tests the service at BASE_URL without AWS credentials if BASE_URL and API_KEY are set', async () => {
    const key = generateApiKey('staging');
    const { origin, close } = await listenOnLoopback(
      createServer((_request, response) => response.end('[]')),
    );
    const settings = {
      NODE_OPTIONS,
      BASE_URL: ` ${origin.replace('http', 'HTTP')}/v1// `,
      API_KEY: ` ${key} `,
    };
    const outcome = await runModule(command, staging, settings);
    const readOnly = await runModule(command, [...staging, '--read-only'], settings);
    await close();
    expect(readOnly).toMatchObject({ code: 1, stdout: '' });
    expect(readOnly.stderr).toMatch(/failed \d+ of \d+ checks\.\n$/);
    expect(outcome).toMatchObject({ code: 3, stderr: '' });
    expect(outcome.stdout).toContain(`\n${origin}/v1 failed the HTTP tests.\n`);
    expect(readFileSync(called, 'utf8')).toBe(`true ${origin}/v1 ${key} ${httpTests}`);
  });

  test('issues a key that expires after 1 hour if API_KEY is empty, and revokes the key after the tests', async () => {
    const outcome = await smoke([]);
    expect(outcome).toMatchObject({ code: 3, stderr: '' });
    const [, , key = ''] = readFileSync(called, 'utf8').split(' ');
    expect(outcome.stdout).not.toContain(key);
    // The list contains no other key, because the previous test used the key in API_KEY.
    const [issued, ...others] = await keys();
    const audit = { createdBy: { caller, action: 'issue' }, revokedBy: { caller, action: 'revoke' } };
    expect(issued).toMatchObject({ hash: hashOf(key), owner: 'smoke test', ...audit });
    expect(issued).not.toHaveProperty('readOnly');
    expect(Date.parse(issued!.expiresAt!) - Date.parse(issued!.createdAt)).toBe(3_600_000);
    expect(others).toEqual([]);
  });

  test('reports a key that could not be revoked', async () => {
    // The first request stores the key. The next requests, which would revoke the key, fail.
    const proxy = await startFaultProxy(process.env['AWS_ENDPOINT_URL_DYNAMODB']!, (call) =>
      call > 1 ? 'throttling error' : undefined,
    );
    const settings = { ...environment(), AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint };
    const { code, stderr } = await runModule(command, staging, settings);
    await proxy.close();
    const [{ keyId } = { keyId: '' }] = await keys();
    const message = `The key ${keyId} was not revoked. It expires within the hour. Cause: A fault.\n`;
    expect({ code, stderr }).toEqual({ code: 3, stderr: message });
  });

  test('revokes its key after an interruption', async () => {
    const server = createServer(() => running.process.kill());
    const { origin, close } = await listenOnLoopback(server);
    outputs.BaseUrl = `${origin}/v1`;
    const running = startModule(command, [...staging, '--read-only'], environment());
    const { code, stderr } = await running.ended;
    await close();
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'The test was interrupted.\n' });
    const [newest] = await keys();
    expect(newest).toMatchObject({ owner: 'smoke test', readOnly: true, revokedBy: { caller } });
  });
});
