import { afterEach, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { type Item, itemsPath, type NewItem, textField } from '../support/sample.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { variants } from '../support/variants.ts';

const CLIENTS = 3;
/** For each burst of creates, the number of 201 responses after which the test kills the service. */
const RESPONSES_BEFORE_KILL = [1, 2, 3, 5, 8, 12, 16, 20, 25, 30];

const inputs = variants();
const data = temporaryFolder();
let service: LocalService | undefined;

afterEach(async () => {
  await service?.stop('SIGKILL');
});

interface Creation {
  input: NewItem;
  idempotencyKey: string | undefined;
  /** The item in the 201, or undefined if no response arrived. */
  responded?: Item;
}

/** Returns a create for an item with a unique text. Half of the creates of each variant have an Idempotency-Key. */
function newCreation(number: number): Creation {
  return {
    input: { ...inputs[number % inputs.length]!, [textField]: randomUUID() },
    idempotencyKey: number % (2 * inputs.length) < inputs.length ? randomUUID() : undefined,
  };
}

async function start(): Promise<LocalService> {
  service = await startLocalService('--data', data);
  return service;
}

interface ApiResponse {
  status: number;
  body: any;
  next: string | undefined;
}

async function call(to: LocalService, path: string, init?: RequestInit): Promise<ApiResponse> {
  const response = await to.request(path, init);
  const next = /\/v1(\/[^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
  return { status: response.status, body: parseJson(await response.text()), next };
}

/** Creates an item. Returns undefined if the service exits before it responds. */
async function create(to: LocalService, { input, idempotencyKey }: Creation): Promise<Item | undefined> {
  const headers: Record<string, string> = idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {};
  const init = { method: 'POST', headers, body: stringifyJson(input) };
  const response = await call(to, itemsPath, init).catch(() => undefined);
  expect([201, undefined]).toContain(response?.status);
  return response?.body;
}

/** Returns all items in the list by their text. Fails if two items have the same text. */
async function listAll(from: LocalService): Promise<Map<string, Item>> {
  const items: Item[] = [];
  for (let next: string | undefined = `${itemsPath}?limit=${PAGE.maximum}`; next;) {
    const page: ApiResponse = await call(from, next);
    items.push(...(page.body as Item[]));
    ({ next } = page);
  }
  const byText = new Map(items.map((item) => [item[textField], item]));
  expect(byText.size).toBe(items.length);
  return byText;
}

/** Creates items with several clients and kills the service after `responses` 201s. Returns all attempted creates. */
async function killDuringBurst(victim: LocalService, responses: number): Promise<Creation[]> {
  const killed = once(victim.process, 'exit');
  const burst: Creation[] = [];
  let responded = 0;
  async function createUntilKilled(): Promise<void> {
    for (;;) {
      const one = newCreation(burst.length);
      burst.push(one);
      const item = await create(victim, one);
      if (!item) return;
      one.responded = item;
      responded += 1;
      if (responded === responses) victim.process.kill('SIGKILL');
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, createUntilKilled));
  expect(await killed).toEqual([null, 'SIGKILL']);
  expect(responded).toBeGreaterThanOrEqual(responses);
  return burst;
}

/** Checks whether the stored item equals the item in the response, or the requested one if no response arrived. */
function matches(item: Item, { input, responded }: Creation): boolean {
  return isDeepStrictEqual(item, responded ?? { id: item.id, ...input });
}

test('the local service stores each acknowledged item exactly once even if killed during creates', async () => {
  const all = new Map<string, Creation>();
  let running = await start();
  for (const responses of RESPONSES_BEFORE_KILL) {
    const burst = await killDuringBurst(running, responses);
    for (const one of burst) all.set(one.input[textField], one);
    running = await start();

    // A retry returns the stored item. If the first attempt stored no item, the retry creates it.
    for (const one of burst.filter(({ idempotencyKey }) => idempotencyKey)) {
      const item = await create(running, one);
      expect(matches(item!, one)).toBe(true);
      one.responded = item!;
    }
    const listed = await listAll(running);
    const lost = [...all].filter(([text, { responded }]) => responded && !listed.has(text));
    const wrong = [...listed].filter(([text, item]) => !all.has(text) || !matches(item, all.get(text)!));
    expect({ lost, wrong }).toEqual({ lost: [], wrong: [] });
  }
  // A partially stored item would differ from the item in the list.
  for (const item of (await listAll(running)).values()) {
    expect(await call(running, `${itemsPath}/${item.id}`)).toMatchObject({ status: 200, body: item });
  }
});

(spawnSync('prlimit', ['--version']).error ? describe.skip : describe)('a full disk', () => {
  test('stops the local service without losing an acknowledged item', async () => {
    const victim = await start();
    const ended = once(victim.process, 'close');
    // A limit on the size of files has the same effect as a full disk.
    spawnSync('prlimit', [`--fsize=${256 * 1024}`, '--pid', `${victim.process.pid}`]);
    const added: Item[] = [];
    async function createUntilEnded(): Promise<void> {
      for (let item; (item = await create(victim, newCreation(added.length)));) added.push(item);
    }
    await Promise.all(Array.from({ length: CLIENTS }, createUntilEnded));
    expect(await ended).toEqual([1, null]);
    expect(victim.output()).toMatch(
      /\nThe disk is full \(IO error: .*: File too large\)\. Free disk space and restart the local service\. The stored data is intact\.\n$/,
    );
    const listed = await listAll(await start());
    expect(added.map((item) => listed.get(item[textField]))).toEqual(added);
    expect(added.length).toBeGreaterThan(0);
  });
});
