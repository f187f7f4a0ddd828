import { afterAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { keyPrefix } from '../../../shared/api-keys.ts';
import { parseJson } from '../../../shared/contract/json.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { collectionTests } from '../../collections/all.ts';
import { type Behavior, startClientProxy } from '../../support/client-proxy.ts';
import { errorOutput, runModule } from '../../support/run-command.ts';

const KEY = `${keyPrefix('staging')}abcdefgh`;
const seeded = collections.map(({ plural, path, operations }) => ({
  plural,
  path,
  schema: operations.create.request.body,
}));
const proxy = await startClientProxy('http://127.0.0.1:1');
afterAll(() => proxy.close());

const seed = (
  parameters: string[],
  environment: Record<string, string> = { BASE_URL: proxy.baseUrl, API_KEY: KEY },
) => runModule('infra/operate/seed.ts', parameters, environment);

const creates = () => proxy.requests.filter(({ method }) => method === 'POST');
const idempotencyKeys = () => creates().map(({ headers }) => headers['idempotency-key']);

/** Sets the proxy's behavior for create requests. The first create request has the index 0. */
function decide(behavior: (index: number) => Behavior): void {
  proxy.decide(({ method }) =>
    method === 'POST' ? behavior(creates().length - 1) : { status: 200, body: '[]' },
  );
}

/** Runs `npm run seed` without faults. Returns the bodies of the create requests by idempotency key. */
async function bodiesOf(...parameters: string[]): Promise<Record<string, string>> {
  decide(() => ({ status: 201 }));
  await seed(parameters);
  return Object.fromEntries(creates().map(({ headers, body }) => [headers['idempotency-key'], body]));
}

test.each(seeded)(
  'sample $plural are valid, and depend only on the seed and the index',
  async ({ plural, schema }) => {
    const of = ['--collection', plural];
    const bodiesByKey = await bodiesOf(...of, '--seed', '7', '--count', '200');
    const { path } = collectionTests[plural];
    expect(new Set(creates().map(({ target }) => target))).toEqual(new Set([`/v1${path}`]));
    const bodies = Object.values(bodiesByKey);
    expect(bodies).toHaveLength(200);
    for (const body of bodies) expect(v.safeParse(schema, parseJson(body)).issues).toBeUndefined();
    // A second run with the same seed repeats the requests of the first run, even if the second run adds more items.
    expect(await bodiesOf(...of, '--seed', '7', '--count', '205')).toMatchObject(bodiesByKey);
    const others = Object.values(await bodiesOf(...of, '--seed', '8', '--count', '200'));
    expect(others.toSorted()).not.toEqual(bodies.toSorted());
  },
);

test('without --collection, npm run seed adds items to the first collection', async () => {
  await bodiesOf('--count', '1');
  expect(creates().map(({ target }) => target)).toEqual([seeded[0]!.path]);
});

test('a failed run prints the seed that its idempotency keys contain', async () => {
  decide((index) => (index < 3 ? { status: 201 } : { status: 400, body: '{"message":"No more."}' }));
  const { code, stderr } = await seed(['--count', '4']);
  const [, seedPrinted] = /\(attempt 1 of 10\)\. No more\. .* --seed (\d+)\.\n$/.exec(stderr)!;
  expect(code).toBe(1);
  expect(new Set(idempotencyKeys())).toEqual(new Set([0, 1, 2, 3].map((i) => `seed-${seedPrinted}-${i}`)));
});

const add = () => seed(['--count', '1', '--seed', '3']);

describe('a create request', () => {
  test('is retried with the same Idempotency-Key if the response is lost', async () => {
    decide((index) => (index === 0 ? 'lose' : { status: 201 }));
    expect(await add()).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Adding 1 .* with --seed 3 …\nThe service contains all 1 .*\.\n$/),
      stderr: expect.stringMatching(/^[\w ]+: 100%\n$/),
    });
    expect(idempotencyKeys()).toEqual(['seed-3-0', 'seed-3-0']);
  });

  test('is retried after the delay in Retry-After', async () => {
    decide((index) => (index === 0 ? { status: 429, headers: { 'Retry-After': '2' } } : { status: 201 }));
    await add();
    const [first, second, ...others] = creates().map(({ time }) => time);
    // The limit is 1 ms less than 2 s, because Node.js timers can fire up to 1 ms early.
    expect(second! - first!).toBeGreaterThanOrEqual(1_999);
    expect(others).toEqual([]);
  });

  test.each([
    [401, '{"code":"unauthorized","message":"Who are you?","status":401}', 'Who are you?'],
    [307, '', 'status 307'],
    [403, 'null', 'status 403'],
  ])('is not retried after a response with status %d', async (status, body, reason) => {
    decide(() => ({ status, body, headers: { Location: '/v1' } }));
    expect((await add()).stderr).toContain(reason);
    expect(creates()).toHaveLength(1);
  });

  test('fails after 10 attempts', async () => {
    decide(() => ({ status: 503, headers: { 'Retry-After': '0' }, body: '{"message":"Broken."}' }));
    expect((await add()).stderr).toContain('(attempt 10 of 10). Broken.');
    expect(creates()).toHaveLength(10);
  });
});

test.each<[string[], Record<string, string>, RegExp]>([
  [
    ['--collection', KEY],
    {},
    new RegExp(`^--collection must be ${seeded.map(({ plural }) => plural).join(' or ')}\\.$`),
  ],
  [['--count', '0'], {}, /--count .* from 1 to 1000000/],
  [['--seed', KEY], {}, /--seed .* from 0 to 2147483647/],
  [['--', KEY], {}, /two dashes: npm run seed -- /],
  [[], { npm_config_count: '20' }, /^npm read --count itself, .* Usage: npm run seed -- /],
  [[], { BASE_URL: 'https://', API_KEY: KEY }, /^BASE_URL must be an https URL, /],
  [
    [],
    { BASE_URL: 'localhost:3000/v1', API_KEY: KEY },
    /^BASE_URL must be an https URL, or an http URL with a loopback host, such as http:\/\/localhost:3000\/v1\.$/,
  ],
  [[], { BASE_URL: 'https://example.com', API_KEY: KEY }, /^BASE_URL must end with \/v1\.$/],
  [[], { BASE_URL: 'https://example.com/?a=/v1', API_KEY: KEY }, /^BASE_URL must end with \/v1\.$/],
  [
    [],
    { BASE_URL: 'https://jane:secret@example.com/v1', API_KEY: KEY },
    /^BASE_URL must contain no user name or password\.$/,
  ],
  [[], { BASE_URL: 'https://example.com/v1' }, /export BASE_URL=http:\/\/localhost:3000\/v1 API_KEY=/],
  [[], { BASE_URL: 'https://example.com/v1', API_KEY: keyPrefix('production') }, /production/],
  [[], { BASE_URL: 'http://example.com/v1', API_KEY: KEY }, /https/],
  [[], { BASE_URL: 'http://localhost.example.com/v1', API_KEY: KEY }, /https/],
  [[], { BASE_URL: 'http://127.0.0.1:2/v1', API_KEY: KEY }, /ECONNREFUSED.*BASE_URL/],
  [[], { BASE_URL: ' HTTP://127.0.0.1:2/v1/ ', API_KEY: KEY }, /^http:\/\/127\.0\.0\.1:2\/v1 returned/],
])('npm run seed rejects the arguments %j in the environment %j', async (parameters, environment, reason) => {
  const line = errorOutput(await seed(parameters, environment));
  expect(line).toMatch(reason);
  expect(line).not.toContain(KEY);
});
