import { afterEach, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import type { StoredItem } from '../support/items.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  createRequest,
  itemToRequest,
  listAll,
  listPath,
  type RequestedItem,
  violationsOf,
} from '../support/requested-items.ts';

const CLIENTS = 3;
/** For each burst of creates, the number of 201 responses after which the test kills the service. */
const RESPONSES_BEFORE_KILL = [1, 2, 3, 5, 8, 12, 16, 20, 25, 30];

/** All items that any of the tests has tried to create, because the tests share a data folder. */
const requested: RequestedItem[] = [];
const data = temporaryFolder();
let service: LocalService | undefined;

afterEach(async () => {
  await service?.stop('SIGKILL');
});

async function start(): Promise<LocalService> {
  const { assembly } = await sharedSynthesis();
  service = await startLocalService('--data', data, '--assembly', assembly);
  return service;
}

async function call(to: LocalService, path: string, init?: RequestInit) {
  const response = await to.request(path, init);
  return { status: response.status, body: await response.text(), link: response.headers.get('Link') };
}

/** Creates an item. Returns whether a complete response arrived before the service exited. */
async function create(to: LocalService, item: RequestedItem): Promise<boolean> {
  item.requests += 1;
  const response = await call(to, listPath, createRequest(item)).catch(() => undefined);
  if (!response) return false;
  const { id, ...content } = parseJson(response.body) as StoredItem;
  expect({ status: response.status, content }).toEqual({ status: 201, content: item.content });
  item.ids.add(id);
  return true;
}

function listedItems(from: LocalService): Promise<StoredItem[]> {
  return listAll((path) => call(from, path));
}

/**
 * Creates items until the service exits, and kills the service after `responsesBeforeKill` 201s. Returns the items of
 * all requests.
 */
async function createUntilExit(victim: LocalService, responsesBeforeKill = Infinity) {
  const burst: RequestedItem[] = [];
  async function createItems(): Promise<void> {
    let isCreated = true;
    while (isCreated) {
      const item = itemToRequest(requested.length);
      requested.push(item);
      burst.push(item);
      isCreated = await create(victim, item);
      if (burst.filter(({ ids }) => ids.size > 0).length >= responsesBeforeKill)
        victim.process.kill('SIGKILL');
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, createItems));
  return burst;
}

test('the local service stores each acknowledged item exactly once even if it is killed during creates', async () => {
  let running = await start();
  for (const responses of RESPONSES_BEFORE_KILL) {
    const killed = once(running.process, 'exit');
    const burst = await createUntilExit(running, responses);
    expect(await killed).toEqual([null, 'SIGKILL']);
    running = await start();
    // A retry returns the stored item, or creates an item if the first attempt stored none.
    for (const item of burst.filter(({ key }) => key)) expect(await create(running, item)).toBe(true);
    expect(violationsOf(requested, await listedItems(running))).toEqual([]);
  }
  // A list reads an index and a get reads the table, so their responses would differ for a partially stored item.
  for (const item of await listedItems(running)) {
    expect(await call(running, `${listPath}/${item.id}`)).toMatchObject({
      status: 200,
      body: stringifyJson(item),
    });
  }
});

(spawnSync('prlimit', ['--version']).error ? describe.skip : describe)('a simulated full disk', () => {
  test('stops the local service without the loss of an acknowledged item', async () => {
    const victim = await start();
    const ended = once(victim.process, 'close');
    // This limits the size of the service's files. The service reports an exceeded limit as a full disk.
    spawnSync('prlimit', [`--fsize=${256 * 1024}`, '--pid', `${victim.process.pid}`]);
    const burst = await createUntilExit(victim);
    expect(await ended).toEqual([1, null]);
    expect(victim.output()).toMatch(
      /\nThe disk is full \(IO error: .*: File too large\)\. Free disk space and restart the local service\. The stored data is intact\.\n$/,
    );
    expect(violationsOf(requested, await listedItems(await start()))).toEqual([]);
    expect(burst.some(({ ids }) => ids.size > 0)).toBe(true);
  });
});
