import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { addPet } from '../../../../infra/operate/seed/client.ts';
import { findService, USAGE as usage } from '../../../../infra/operate/seed/options.ts';
import { generatePet } from '../../../../infra/operate/seed/pets.ts';
import { NewPet } from '../../../../shared/contract/schemas.ts';
import { type Behavior, type ClientProxy, startClientProxy } from '../../../support/client-proxy.ts';
import { errorOutput } from '../../../support/run-command.ts';
import { runInProcess } from '../../../support/run-in-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const KEY = 'pets_staging_abcdefgh';
const folder = temporaryFolder();
let proxy: ClientProxy;

beforeAll(async () => {
  proxy = await startClientProxy('http://127.0.0.1:1');
  const { baseUrl } = proxy;
  writeFileSync(join(folder, 'service.json'), JSON.stringify({ baseUrl, databaseEndpoint: baseUrl }));
  writeFileSync(join(folder, 'api-key'), KEY);
});
afterAll(() => proxy.close());

const seed = (parameters: string[], environment: Record<string, string> = {}) =>
  runInProcess('infra/operate/seed/main.ts', parameters, { environment });

const creates = () => proxy.requests.filter(({ method }) => method === 'POST');
const idempotencyKeys = () => creates().map(({ headers }) => headers['idempotency-key']);

/** Sets the proxy's behavior for each create request, by the index of the request. */
function decide(behavior: (index: number) => Behavior): void {
  proxy.decide(({ method }) =>
    method === 'POST'
      ? behavior(creates().length - 1)
      : { status: 200, body: '[]', headers: { 'Content-Type': 'application/x-amz-json-1.0' } },
  );
}

test('sample pets are valid and depend only on the seed and the index', () => {
  const pets = Array.from({ length: 2_000 }, (_, index) => generatePet(7, index));
  expect(pets.map((pet) => v.parse(NewPet, pet))).toEqual(pets);
  expect([1_500, 3].map((index) => generatePet(7, index))).toEqual([pets[1_500], pets[3]]);
  expect(generatePet(8, 3)).not.toEqual(pets[3]);
});

test('a failed run prints the seed that its Idempotency-Keys are derived from', async () => {
  decide((index) => (index < 3 ? { status: 201 } : { status: 400, body: '{"message":"No more."}' }));
  const { code, stderr } = await seed(['--data', folder, '--count', '9', '--concurrency', '1']);
  const [, seedPrinted = ''] =
    /\nA pet could not be created \(attempt 1 of 10\)\. No more\. To resume, run the same command with --seed (\d+)\.\n$/.exec(
      stderr,
    )!;
  expect(code).toBe(1);
  expect(idempotencyKeys()).toEqual([0, 1, 2, 3].map((index) => `seed-${seedPrinted}-${index}`));
});

const add = (): Promise<void> => addPet({ ...proxy, apiKey: KEY }, 3, 0);

describe('a create request', () => {
  test('is retried with its Idempotency-Key if the response is lost', async () => {
    decide((index) => (index === 0 ? 'lose' : { status: 201 }));
    await add();
    expect(idempotencyKeys()).toEqual(['seed-3-0', 'seed-3-0']);
  });

  test('is retried after the delay in Retry-After', async () => {
    decide((index) => (index === 0 ? { status: 429, headers: { 'Retry-After': '2' } } : { status: 201 }));
    await add();
    const [first, second, ...others] = creates().map(({ time }) => time);
    // Node.js timers can fire up to 1 ms early.
    expect(second! - first!).toBeGreaterThanOrEqual(1_999);
    expect(others).toEqual([]);
  });

  test.each([
    [401, '{"code":"unauthorized","message":"Who are you?","status":401}', 'Who are you?'],
    [307, '', 'The response has status 307 and no Error body.'],
    [403, 'null', 'The response has status 403 and no Error body.'],
  ])('is not retried after a response with status %d', async (status, body, reason) => {
    decide(() => ({ status, body, headers: { Location: '/v1/pets' } }));
    await expect(add()).rejects.toThrow(`(attempt 1 of 10). ${reason} To`);
    expect(creates()).toHaveLength(1);
  });

  test('fails after 10 attempts', async () => {
    decide(() => ({ status: 503, headers: { 'Retry-After': '0' }, body: '{"message":"Broken."}' }));
    await expect(add()).rejects.toThrow('(attempt 10 of 10). Broken. To');
    expect(creates()).toHaveLength(10);
  });
});

const USAGE = `Invalid arguments. Usage, including the two dashes: ${usage.split('\n')[0]}`;

test.each<[string[], Record<string, string>, string]>([
  [['--count', '0'], {}, '--count must be an integer from 1 to 1000000.'],
  [['--seed', KEY], {}, '--seed must be an integer from 0 to 2147483647.'],
  [['--concurrency', '101'], {}, '--concurrency must be an integer from 1 to 100.'],
  [['--', KEY], {}, USAGE],
  [[], { npm_config_count: '20' }, USAGE],
])(
  'npm run seed rejects the arguments %j with the environment variables %j',
  async (parameters, environment, sentence) => {
    expect(errorOutput(await seed(parameters, environment))).toBe(sentence);
  },
);

const noList = 'returned no list of pets. There was no response (ECONNREFUSED). Check BASE_URL and API_KEY.';
const wrongKey =
  'Set API_KEY to a key of the service at BASE_URL. Production keys are rejected, so that production gets no sample pets.';
const unencrypted = 'BASE_URL must be an https URL, or an http URL of a loopback host, such as localhost.';

test.each<[Record<string, string>, string]>([
  [{ BASE_URL: 'https://example.com/v1' }, wrongKey],
  [{ BASE_URL: 'https://example.com/v1', API_KEY: 'pets_production_abc' }, wrongKey],
  [{ BASE_URL: 'http://example.com/v1', API_KEY: KEY }, unencrypted],
  [{ BASE_URL: 'http://localhost.example.com/v1', API_KEY: KEY }, unencrypted],
  [{ BASE_URL: 'http://127.0.0.1:2/v1', API_KEY: KEY }, `http://127.0.0.1:2/v1 ${noList}`],
  [{}, 'No local service is running with the data folder /nowhere. Start one with npm start.'],
])('npm run seed sends no pets with the environment variables %j', async (environment, sentence) => {
  await expect(findService('/nowhere', environment)).rejects.toThrow(new Error(sentence));
});
