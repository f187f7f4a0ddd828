import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTarget, readSeedOptions, type SeedTarget } from '../../../../infra/operate/seed/options.ts';
import { madeUpPet } from '../../../../infra/operate/seed/pets.ts';
import { addPets, chooseRun, type SeedRun } from '../../../../infra/operate/seed/run.ts';
import { parseJson } from '../../../../shared/contract/json.ts';
import type { NewPet, Pet } from '../../../../shared/contract/schemas.ts';
import { sharedSynthesis } from '../../../support/assembly.ts';
import { type LocalService, startLocalService } from '../../../support/local-service.ts';
import { type Outcome, type RunningModule, startModule } from '../../../support/run-command.ts';
import { type ClientProxy, type Fate, startClientProxy } from '../../../support/client-proxy.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

jest.setTimeout(120_000); // for processes that start on a busy machine

const DAY = 24 * 3_600_000;

const folder = temporaryFolder();
const runFile = join(folder, 'seed.json');
let service: LocalService;
let proxy: ClientProxy;
let target: SeedTarget;
/** All pets that tests have seen. */
const seen = new Set<bigint>();

beforeAll(async () => {
  jest.spyOn(process.stderr, 'write').mockReturnValue(true); // the bars of runs in this process
  const { assembly } = await sharedSynthesis();
  service = await startLocalService('--assembly', assembly);
  const { apiKey } = service;
  proxy = await startClientProxy(service.baseAddress);
  // As the data folder of a service that is the proxy.
  writeFileSync(join(folder, 'service.json'), JSON.stringify(proxy));
  writeFileSync(join(folder, 'api-key'), apiKey);
  target = { baseAddress: proxy.baseAddress, apiKey, runFile };
});
afterAll(async () => {
  await proxy.close();
  await service.stop();
});

const start = (...parameters: string[]): RunningModule =>
  startModule('infra/operate/seed/main.ts', ['--data', folder, ...parameters]);

/** The creates that arrived since it was last decided on them. */
const creates = () => proxy.requests.filter(({ method }) => method === 'POST');

/** Decides on each create that arrives from now on, from the first, 0. */
function decide(fate: (index: number) => Fate | Promise<Fate>): void {
  proxy.decide(({ method }) => (method === 'POST' ? fate(creates().length - 1) : 'pass'));
}

const choose = (parameters: string[], of: Partial<SeedTarget> = {}): SeedRun =>
  chooseRun({ ...target, ...of }, readSeedOptions(parameters));

/** What comes of a run of these options when creates meet these fates; of no more than one at a time unless told otherwise. */
async function add(parameters: string[], fate: (index: number) => Fate | Promise<Fate>, concurrency = 1) {
  decide(fate);
  const stopping = new AbortController();
  const { added, requests } = await addPets(target, choose(parameters), concurrency, stopping);
  expect(requests).toBe(creates().length);
  const { reason } = stopping.signal;
  return { added, reason: reason === undefined ? undefined : (reason as Error).message };
}

/** The pets that came since the last look, in an order of their own. */
async function newPets(): Promise<NewPet[]> {
  const pets: Pet[] = [];
  for (let next: string | undefined = `${service.baseAddress}/pets?limit=100`; next;) {
    const page: Response = await fetch(next, { headers: { Authorization: `Bearer ${service.apiKey}` } });
    pets.push(...(parseJson(await page.text()) as Pet[]));
    next = /<([^>]*)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1];
  }
  const added = pets.filter(({ id }) => !seen.has(id));
  for (const { id } of added) seen.add(id);
  return inOrder(added.map(({ id: _id, ...pet }) => pet));
}

const madeUp = (count: number, seed: number): NewPet[] =>
  inOrder(Array.from({ length: count }, (_, index) => madeUpPet(seed, index)));

const inOrder = (pets: NewPet[]): NewPet[] =>
  pets.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));

const loseSome = (index: number): Fate => (index % 4 === 0 ? 'lose' : 'pass');

const textOf = ({ name, categoryId, status }: NewPet): string => `${name} ${categoryId} ${status}`;

test('npm run seed explains itself when asked', async () => {
  const { code, stdout, stderr } = await start('--help').ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.match(/^ {2}--[a-z-]+/gm)).toHaveLength(6);
});

describe('a run that is killed in the middle', () => {
  const parameters = ['--count', '40', '--seed', '1'];
  let kept: string;
  let again: Outcome;
  beforeAll(async () => {
    const run = start(...parameters);
    decide((index) => {
      if (index === 25) run.process.kill('SIGKILL');
      return 'pass';
    });
    await run.ended;
    kept = readFileSync(runFile, 'utf8');
    again = await start(...parameters).ended;
  });

  test('has added each of its pets once when it was started again', async () => {
    expect(again.code).toBe(0);
    expect(again.stdout).toMatch(
      /^Adding 40 pets at http:\S+\/v1, seed 1 …\nAdded 40 pets in [\d.]+ s, \d+ requests\/s\.\n$/,
    );
    expect(again.stderr).toMatch(/^pets: 0 %\n(pets: \d+ %\n)*pets: 100 %\n$/);
    expect(await newPets()).toEqual(madeUp(40, 1));
    expect(existsSync(runFile)).toBe(false);
  });

  test('shows and keeps no key', () => {
    expect(kept + again.stdout + again.stderr).not.toContain(service.apiKey.slice(13, 30));
  });
});

describe('a run that is told to end by Ctrl-C', () => {
  const parameters = ['--count', '15', '--seed', '2'];
  let ended: Outcome;
  let sent: number;
  beforeAll(async () => {
    const run = start(...parameters);
    const heard = new Promise<void>((resolve) => {
      run.process.stderr!.on('data', (chunk: Buffer) => {
        if (chunk.includes('Waiting for the answers under way …\n')) resolve();
      });
    });
    decide(async (index): Promise<Fate> => {
      if (index < 4) return 'pass';
      run.process.kill('SIGINT');
      await heard;
      return 'pass';
    });
    ended = await run.ended;
    sent = creates().length;
  });

  test('waits for what is under way, and says how to go on', () => {
    expect(ended.code).toBe(130);
    expect(ended.stderr.trim().split('\n').at(-1)).toBe(
      `Stopped. The first ${sent} of 15 pets are there; the same command goes on.`,
    );
  });

  test('goes on where it was', async () => {
    expect(await add(parameters, () => 'pass')).toEqual({ added: 15, reason: undefined });
    expect(creates()).toHaveLength(15 - sent);
    expect(await newPets()).toEqual(madeUp(15, 2));
  });
});

describe('made-up pets', () => {
  test('are added once when answers get lost', async () => {
    expect(await add(['--count', '9', '--seed', '3'], loseSome, 8)).toEqual({ added: 9, reason: undefined });
    expect(creates().length).toBeGreaterThan(9);
    expect(await newPets()).toEqual(madeUp(9, 3));
  });

  test('are sent again after as long as Retry-After says', async () => {
    const tooMany = { status: 429, headers: { 'Retry-After': '2' } };
    const fate = (index: number) => (index === 0 ? tooMany : { status: 201 });
    expect(await add(['--count', '1'], fate)).toEqual({ added: 1, reason: undefined });
    const [first, second, ...others] = creates().map(({ time }) => time);
    // Node's timers may be early by less than one.
    expect(second! - first!).toBeGreaterThanOrEqual(1_999);
    expect(others).toEqual([]);
  });

  test.each([
    [401, '{"code":"unauthorized","message":"Who are you?","status":401}', 'Who are you?'],
    [404, '<h1>Not found</h1>', 'the answer has the status 404 and no Error body.'],
    [307, '', 'the answer has the status 307 and no Error body.'],
    [403, 'null', 'the answer has the status 403 and no Error body.'],
  ])('are not sent again when one is refused by %d', async (status, body, reason) => {
    const refusal = { status, body, headers: { Location: '/v1/pets' } };
    const fate = (index: number) => (index < 2 ? { status: 201 } : refusal);
    expect(await add(['--count', '5', '--restart'], fate)).toEqual({
      added: 2,
      reason: `A pet was refused: ${reason}`,
    });
    expect(creates()).toHaveLength(3);
  });

  test('are sent ten times at most', async () => {
    const broken = { status: 503, headers: { 'Retry-After': '0' }, body: '{"message":"Broken."}' };
    expect(await add(['--count', '1', '--restart'], () => broken)).toEqual({
      added: 0,
      reason: 'A pet was not added in 10 attempts: Broken.',
    });
    expect(creates()).toHaveLength(10);
  });

  test('are not waited with for longer than five minutes', async () => {
    const away = { status: 503, headers: { 'Retry-After': '3000000' }, body: '{"message":"Gone."}' };
    expect(await add(['--count', '1', '--restart'], () => away)).toEqual({
      added: 0,
      reason: 'The service asks to wait for 3000000 seconds: Gone.',
    });
    expect(creates()).toHaveLength(1);
  });

  test('are not begun with for a key that the service does not know', async () => {
    const environment = { BASE_URL: proxy.baseAddress, API_KEY: 'pets_staging_x' };
    const options = readSeedOptions([]);
    await expect(findTarget(options, environment)).rejects.toThrow(
      /takes no pets, look at BASE_URL and API_KEY: A valid API key is required/,
    );
    await expect(findTarget(options, { ...environment, API_KEY: service.apiKey })).resolves.toMatchObject({
      baseAddress: proxy.baseAddress,
    });
  });
});

describe('the file of a run', () => {
  test('tells after each hundred pets how many are there', async () => {
    const kept: number[] = [];
    await add(['--count', '201', '--restart'], (index) => {
      if (index % 50 === 0) kept.push(choose([]).added);
      return { status: 201 };
    });
    expect(kept).toEqual([0, 0, 100, 100, 200]);
    expect(existsSync(runFile)).toBe(false);
  });

  test('counts no pet beyond one that is not there', async () => {
    let refuse: (fate: Fate) => void;
    const refused = new Promise<Fate>((resolve) => {
      refuse = resolve;
    });
    const fate = (index: number) => {
      if (index === 5) refuse({ status: 400 });
      return index === 0 ? refused : { status: 201 };
    };
    expect(await add(['--count', '10', '--restart'], fate, 2)).toMatchObject({ added: 0 });
    expect(choose([]).added).toBe(0);
  });
});

describe('a run that was cut off', () => {
  const parameters = ['--count', '10', '--seed', '5'];

  test('goes on by itself, and with its own options', async () => {
    expect(
      await add([...parameters, '--restart'], (index) => ({ status: index < 3 ? 201 : 400 })),
    ).toMatchObject({
      added: 3,
    });
    const run = choose([]);
    expect(run).toMatchObject({ count: 10, seed: 5, added: 3 });
    expect(choose(parameters)).toEqual(run);
  });

  test.each([
    ['--count', '11'],
    ['--seed', '6'],
  ])('does not become one of another %s', (...other) => {
    expect(() => choose(other)).toThrow(
      new Error(
        'A run of --count 10 --seed 5 is not at its end: go on with these options, or begin anew with --restart; at least 3 pets are there and stay.',
      ),
    );
    expect(choose([...other, '--restart'])).toMatchObject({ added: 0 });
  });

  test('does not go on with another key', () => {
    expect(() => choose([], { apiKey: 'pets_staging_other' })).toThrow(
      new Error(
        'The run before had another API key: go on with that one, or begin anew with --restart --count 7; at least 3 of 10 pets are there and stay.',
      ),
    );
  });

  test('does not go on when the service may have forgotten its pets, not even with a pet that is sent again', async () => {
    const late =
      'The run began more than 23 hours ago, too long to go on: begin anew with --restart --count 7; at least 3 of 10 pets are there and stay.';
    const run = { ...choose([]), startedAt: Date.now() - DAY };
    decide(() => 'pass');
    const stopping = new AbortController();
    expect(await addPets(target, run, 1, stopping)).toEqual({ added: 3, requests: 0 });
    expect(stopping.signal.reason).toEqual(new Error(late));
    expect(creates()).toEqual([]);
    expect(() => choose([])).toThrow(new Error(late));
  });

  test.each([
    ['cut off', '{"id":'],
    ['of another kind', '{}'],
  ])('is not guessed at when its file is %s', (_what, content) => {
    writeFileSync(runFile, content);
    expect(() => choose([])).toThrow(
      new Error(`${runFile} does not tell how far the run before has come: begin anew with --restart.`),
    );
    expect(choose(['--restart'])).toMatchObject({ count: 1_000, added: 0 });
  });
});
