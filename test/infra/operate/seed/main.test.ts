import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addPet } from '../../../../infra/operate/seed/client.ts';
import { madeUpPet } from '../../../../infra/operate/seed/pets.ts';
import { parseJson } from '../../../../shared/contract/json.ts';
import type { NewPet, Pet } from '../../../../shared/contract/schemas.ts';
import { sharedSynthesis } from '../../../support/assembly.ts';
import { type ClientProxy, type Fate, startClientProxy } from '../../../support/client-proxy.ts';
import { type LocalService, startLocalService } from '../../../support/local-service.ts';
import { type RunningModule, startModule } from '../../../support/run-command.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
let service: LocalService;
let proxy: ClientProxy;
/** All pets that tests have seen. */
const seen = new Set<bigint>();

beforeAll(async () => {
  const { assembly } = await sharedSynthesis();
  service = await startLocalService('--assembly', assembly);
  proxy = await startClientProxy(service.baseAddress);
  // Like the data folder of a service that listens where the proxy does.
  writeFileSync(join(folder, 'service.json'), JSON.stringify({ baseAddress: proxy.baseAddress }));
  writeFileSync(join(folder, 'api-key'), service.apiKey);
});
afterAll(async () => {
  await proxy.close();
  await service.stop();
});

const start = (...parameters: string[]): RunningModule =>
  startModule('infra/operate/seed/main.ts', ['--data', folder, ...parameters]);

const creates = () => proxy.requests.filter(({ method }) => method === 'POST');

/** Decides on each create that arrives from now on, by its index, and forgets earlier requests. */
function decide(fate: (index: number) => Fate | Promise<Fate>): void {
  proxy.decide(({ method }) => (method === 'POST' ? fate(creates().length - 1) : 'pass'));
}

/** The pets that were added since the last call. */
async function newPets(): Promise<string[]> {
  const pets: Pet[] = [];
  for (let next: string | undefined = `${service.baseAddress}/pets?limit=100`; next;) {
    const page: Response = await fetch(next, { headers: { Authorization: `Bearer ${service.apiKey}` } });
    pets.push(...(parseJson(await page.text()) as Pet[]));
    next = /<([^>]*)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1];
  }
  const added = pets.filter(({ id }) => !seen.has(id));
  for (const { id } of added) seen.add(id);
  return inOrder(added);
}

const madeUp = (seed: number, count: number, first = 0): string[] =>
  inOrder(Array.from({ length: count }, (_, index) => madeUpPet(seed, first + index)));

/** Pets without their ids, in an order that does not depend on when they were added. */
const inOrder = (pets: NewPet[]): string[] =>
  pets.map(({ name, categoryId, status }) => `${name} ${categoryId} ${status}`).toSorted();

const add = (seed: number): Promise<void> =>
  addPet({ ...service, baseAddress: proxy.baseAddress }, seed, 0, new AbortController().signal);

test('a killed run is resumed by the same command, and a larger --count adds only more pets', async () => {
  const parameters = ['--count', '40', '--seed', '1'];
  const killed = start(...parameters);
  decide((index) => {
    if (index === 25) killed.process.kill('SIGKILL');
    return 'pass';
  });
  await killed.ended;
  const resumed = await start(...parameters).ended;
  expect(resumed).toEqual({
    code: 0,
    stdout: `Adding 40 pets to ${proxy.baseAddress} with --seed 1 …\nAll 40 pets are in the store.\n`,
    stderr: expect.stringMatching(/^(pets: \d+ %\n)*pets: 100 %\n$/),
  });
  expect(resumed.stdout + resumed.stderr).not.toContain(service.apiKey.slice(13, 30));
  expect(await newPets()).toEqual(madeUp(1, 40));

  expect((await start('--count', '45', '--seed', '1').ended).code).toBe(0);
  expect(await newPets()).toEqual(madeUp(1, 5, 40));
});

test('a run that Ctrl-C stops waits for its requests, and prints the seed that resumes it', async () => {
  const run = start('--count', '15');
  const isStopping = new Promise<void>((resolve) => {
    run.process.stderr!.on('data', (chunk: Buffer) => {
      if (chunk.includes('Waiting for the requests in progress …\n')) resolve();
    });
  });
  decide(async (index): Promise<Fate> => {
    if (index < 4) return 'pass';
    run.process.kill('SIGINT');
    await isStopping;
    return 'pass';
  });
  const { code, stderr } = await run.ended;
  expect(code).toBe(130);
  const [, added, seed = ''] =
    /^Stopped\. At least (\d+) of 15 pets are in the store\. To add the others, run the same command with --seed (\d+) within 24 hours of its first start\.$/m.exec(
      stderr,
    ) ?? [];
  expect(Number(added)).toBe(creates().length);

  expect((await start('--count', '15', '--seed', seed).ended).code).toBe(0);
  expect(await newPets()).toEqual(madeUp(Number(seed), 15));
});

test('a run that fails prints the seed that resumes it', async () => {
  decide((index) => (index < 3 ? { status: 201 } : { status: 400, body: '{"message":"No more."}' }));
  expect(await start('--count', '9', '--seed', '2', '--concurrency', '1').ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /\nA pet was rejected: No more\. At least 3 of 9 pets .* with --seed 2 within 24 hours of its first start\.\n$/,
    ),
  });
});

describe('a pet', () => {
  test('is added once when its response is lost', async () => {
    decide((index) => (index === 0 ? 'lose' : 'pass'));
    await add(3);
    expect(creates()).toHaveLength(2);
    expect(await newPets()).toEqual(madeUp(3, 1));
  });

  test('is retried after Retry-After', async () => {
    decide((index) => (index === 0 ? { status: 429, headers: { 'Retry-After': '2' } } : { status: 201 }));
    await add(4);
    const [first, second, ...others] = creates().map(({ time }) => time);
    // Node's timers may be early by less than 1 ms.
    expect(second! - first!).toBeGreaterThanOrEqual(1_999);
    expect(others).toEqual([]);
  });

  test.each([
    [401, '{"code":"unauthorized","message":"Who are you?","status":401}', 'Who are you?'],
    [404, '<h1>Not found</h1>', 'the response has status 404 and no Error body.'],
    [307, '', 'the response has status 307 and no Error body.'],
    [403, 'null', 'the response has status 403 and no Error body.'],
  ])('is not retried after a response with status %d', async (status, body, reason) => {
    decide(() => ({ status, body, headers: { Location: '/v1/pets' } }));
    await expect(add(5)).rejects.toThrow(new Error(`A pet was rejected: ${reason}`));
    expect(creates()).toHaveLength(1);
  });

  test.each([
    ['0', 10, 'A pet was not added in 10 attempts: Broken.'],
    ['3000000', 1, 'The service asks for a pause of 3000000 seconds: Broken.'],
  ])('is given up on after Retry-After: %s in %d attempts', async (retryAfter, attempts, sentence) => {
    decide(() => ({ status: 503, headers: { 'Retry-After': retryAfter }, body: '{"message":"Broken."}' }));
    await expect(add(6)).rejects.toThrow(new Error(sentence));
    expect(creates()).toHaveLength(attempts);
  });
});
