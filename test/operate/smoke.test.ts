import { afterAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { issueApiKey, listApiKeys } from '../../infra/operate/key-store.ts';
import { generateApiKey, hashOf } from '../../shared/api-keys.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { stagingTemplate } from '../support/real-database.ts';
import { done, errorOutput } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startFakeAws } from './fake-aws.ts';
import { interrupt, runInProcess } from './in-process.ts';

const caller = 'arn:aws:sts::123456789012:assumed-role/Operator/ada';

/** Fault of the database calls that revoke keys. */
let revocationFault: Fault | undefined;
const service = await startFaultyService(await stagingTemplate(), async (_call, read) =>
  (await read()).includes('revokedAt = :time') ? revocationFault : undefined,
);

/** What the stage does with a request: respond, lose the connection, or get Ctrl-C while it responds. */
type Reply = { status: number; headers?: Record<string, string>; body?: string } | 'lose' | 'interrupt';
const pass = undefined;
/** What the stage does with the next requests, in order. The service responds to the others. */
let replies: (Reply | undefined)[] = [];

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url: target = '', headers } = request;
  const body = await text(request);
  const reply = replies.shift();
  if (reply === 'lose') return void request.socket.destroy();
  if (reply === 'interrupt') return interrupt();
  const sent = { method, target, headers: Object.entries(headers) as [string, string][], body };
  const { status, headers: received, body: content } = reply ?? (await service.handle(sent));
  response.writeHead(status, received).end(content);
}

const stage = await listenOnLoopback(
  createServer((request, response) => {
    respond(request, response).catch(() => request.socket.destroy());
  }),
);
const baseUrl = `${stage.origin}/v1`;
const aws = await startFakeAws({ outputs: { BaseUrl: baseUrl, ApiKeysTable: service.store.table }, caller });
afterAll(() => Promise.all([stage.close(), aws.close(), service.close()]));

/** File to which the stand-in for Jest writes its parameters. smoke.proof.ts runs the actual HTTP tests. */
const called = join(temporaryFolder(), 'called');
const standIn = `
  import { writeFileSync } from 'node:fs';
  if (process.argv[1].endsWith('jest.js')) {
    const { DEPLOYED_STAGE, BASE_URL, API_KEY } = process.env;
    const parts = [DEPLOYED_STAGE, BASE_URL, API_KEY, ...process.argv.slice(2)];
    writeFileSync(${JSON.stringify(called)}, parts.join(' '));
    process.exit(3);
  }`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(standIn)}`;
const httpTests = '--config test/http.config.js --runInBand';

const { AWS_ENDPOINT_URL_DYNAMODB = '' } = process.env;
const withAws = { ...aws.environment, AWS_ENDPOINT_URL_DYNAMODB, NODE_OPTIONS };

/** Runs the smoke test of the stage `staging`. */
function smoke(words: string[], environment: Record<string, string> = withAws) {
  return runInProcess('infra/operate/smoke.ts', ['--stage', 'staging', ...words], { environment });
}

/** Returns the stage's keys, newest first. */
function keys() {
  return Array.fromAsync(listApiKeys(service.store));
}

/** Returns the body of the list of all pets. */
async function pets(): Promise<string> {
  return (await service.send({ target: '/v1/pets' })).body;
}

test('the smoke test adds no items to a stage that retains its data, such as production', async () => {
  const outcome = await smoke(['--stage', 'production', 'test/http/gateway']);
  expect(errorOutput(outcome)).toMatch(/^The tests would leave items in production.* --read-only\.$/);
});

test('the smoke test needs a base URL that ends with /v1, and to which no key is sent unencrypted', async () => {
  const wrong = [
    ['localhost', 'BASE_URL must be an https URL'],
    ['http://example.com/v1', 'BASE_URL must be an https URL'],
    ['https://jane:secret@example.com/v1', 'BASE_URL must contain no user name or password'],
    ['https://example.com', 'BASE_URL must end with /v1'],
    [baseUrl, `${baseUrl} returned no list of pets`], // The key is unknown.
  ] as const;
  for (const [BASE_URL, message] of wrong) {
    const outcome = await smoke([], { BASE_URL, API_KEY: generateApiKey('staging') });
    expect(errorOutput(outcome)).toContain(message);
  }
});

describe('npm run smoke', () => {
  test('runs one test file at a time with the key in API_KEY', async () => {
    const key = generateApiKey('staging');
    expect(await smoke(['some', 'tests'], { ...withAws, API_KEY: key })).toEqual({
      code: 3,
      stdout: `Running the HTTP tests against ${baseUrl} …\n${baseUrl} failed the HTTP tests.\n`,
      stderr: '',
    });
    const patterns = '--testPathPatterns=some --testPathPatterns=tests';
    expect(readFileSync(called, 'utf8')).toBe(`true ${baseUrl} ${key} ${httpTests} ${patterns}`);
  });

  test('tests the service at BASE_URL without AWS credentials if BASE_URL and API_KEY are set', async () => {
    const BASE_URL = ` ${stage.origin.replace('http', 'HTTP')}/v1// `;
    const outcome = await smoke([], { NODE_OPTIONS, BASE_URL, API_KEY: ` ${service.apiKey} ` });
    expect(outcome).toMatchObject({ code: 3, stderr: '' });
    expect(readFileSync(called, 'utf8')).toBe(`true ${baseUrl} ${service.apiKey} ${httpTests}`);
  });

  test('issues a key that expires after 1 hour if API_KEY is empty, and revokes the key after the tests', async () => {
    const before = await keys();
    const outcome = await smoke([], { ...withAws, API_KEY: '' });
    expect(outcome).toMatchObject({ code: 3, stderr: '' });
    const [, , key = ''] = readFileSync(called, 'utf8').split(' ');
    expect(outcome.stdout).not.toContain(key);
    const [issued, ...others] = await keys();
    const audit = { createdBy: { caller, action: 'issue' }, revokedBy: { caller, action: 'revoke' } };
    expect(issued).toMatchObject({ hash: hashOf(key), owner: 'smoke test', ...audit });
    expect(issued).not.toHaveProperty('readOnly');
    expect(Date.parse(issued!.expiresAt!) - Date.parse(issued!.createdAt)).toBe(3_600_000);
    expect(others).toEqual(before);
  });

  test('reports a key that could not be revoked', async () => {
    revocationFault = 'connection reset before execution';
    const { code, stderr } = await smoke([]);
    revocationFault = undefined;
    const [{ keyId } = { keyId: '' }] = await keys();
    expect(code).toBe(3);
    expect(stderr).toMatch(new RegExp(`^The key ${keyId} was not revoked\\. .*hour\\. Cause: .*ECONNRESET`));
  });
});

describe('npm run smoke -- --read-only', () => {
  test('passes a stage, with a key that can only read and is revoked after the test', async () => {
    expect(done(await smoke(['--read-only']))).toMatch(/^http\S+ passed \d+ checks\.\n$/);
    const [newest] = await keys();
    expect(newest).toMatchObject({ owner: 'smoke test', readOnly: true, revokedBy: { caller } });
  });

  test('stores nothing, even if the stage lets the key write', async () => {
    const { code, stderr } = await smoke(['--read-only'], { BASE_URL: baseUrl, API_KEY: service.apiKey });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^POST \/v1\/pets with a valid key: expected 403, but got 400 /);
    expect(await pets()).toBe('[]');
  });

  test.each<[string, (Reply | undefined)[], string]>([
    ['requires no key', [{ status: 200, body: '[]' }], '401, but got 200'],
    ['rejects every key', [pass, pass, pass, { status: 401, body: '{}' }], '200, but got 401'],
    [
      'is unavailable',
      [{ status: 503, headers: { 'x-amzn-RequestId': 'the-id' }, body: '{}' }],
      '401, but got 503 (request id: the-id)',
    ],
    ['does not respond', ['lose'], '401, but got 504 (request id: none)'],
    ['returns no Error body', [{ status: 401, body: '<html></html>' }], '401, but got 401 with a wrong body'],
    [
      'blocks creates by its firewall',
      [
        pass,
        pass,
        pass,
        pass,
        { status: 403, body: '{"code":"forbidden","message":"Blocked.","status":403}' },
      ],
      '403, but got 403 with a wrong body',
    ],
    ['redirects requests', [{ status: 302, headers: { Location: '/' } }], '401, but got 302'],
  ])('fails for a stage that %s, and names the wrong response', async (_what, first, words) => {
    const { key } = await issueApiKey(service.store, { owner: 'a test', readOnly: true, caller });
    replies = [pass, ...first]; // The first request checks BASE_URL.
    const { code, stdout, stderr } = await smoke(['--read-only'], { BASE_URL: baseUrl, API_KEY: key });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr).toMatch(/^.*\nhttp\S+ failed 1 of \d+ checks\.\n$/);
    expect(stderr).not.toContain(key);
  });

  test('revokes its key after an interruption', async () => {
    replies = ['interrupt'];
    expect(errorOutput(await smoke(['--read-only']))).toBe('The test was interrupted.');
    const [newest] = await keys();
    expect(newest).toMatchObject({ owner: 'smoke test', readOnly: true, revokedBy: { caller } });
  });

  test('cannot be combined with a pattern', async () => {
    expect(errorOutput(await smoke(['--read-only', 'some/test']))).toContain('cannot be combined');
  });
});
