import { afterEach, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { parseJson } from '../../shared/contract/json.ts';
import { assemblyWithEpochs, sharedSynthesis } from '../support/assembly.ts';
import type { StoredItem } from '../support/items.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createRequest, itemToRequest, listPath } from './requested-items.ts';

const data = temporaryFolder();
let service: LocalService;

afterEach(() => service.stop());

/** Starts the service with the data of the last start, and other epochs of list partitions. */
async function startWith(...epochs: [since: string, count: number][]): Promise<void> {
  const { assembly } = await sharedSynthesis();
  const copy = join(data, `assembly-${epochs.length}-${epochs.at(-1)![1]}`);
  const list = epochs.map(([since, count]) => ({ since, count }));
  service = await startLocalService('--data', data, '--assembly', assemblyWithEpochs(assembly, copy, list));
}

const created: StoredItem[] = [];
let number = 0;

async function send(init: ReturnType<typeof createRequest>): Promise<StoredItem> {
  const response = await service.request(listPath, init);
  expect(response.status).toBe(201);
  return parseJson(await response.text()) as StoredItem;
}

async function createItems(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    created.push(await send(createRequest(itemToRequest(1, number++))));
}

/** Reads the pages of the list from a path, and returns their items and the paths of the pages. */
async function walk(path: string | undefined): Promise<{ items: StoredItem[]; paths: string[] }> {
  const [items, paths]: [StoredItem[], string[]] = [[], []];
  while (path) {
    paths.push(path);
    const response = await service.request(path);
    items.push(...(parseJson(await response.text()) as StoredItem[]));
    path = /\/v1(\/[^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
  }
  return { items, paths };
}

const newestFirst = () => created.toSorted((one, other) => (one.id > other.id ? -1 : 1));

test('lists, cursors and retries work over three epochs of list partitions, and after a rollback before an epoch', async () => {
  const first: [string, number] = ['2025-01-01T00:00:00Z', 3];
  await startWith(first);
  const interrupted = createRequest({ ...itemToRequest(1, number++), key: 'retried-in-a-later-epoch' });
  const original = await send(interrupted);
  created.push(original);
  await createItems(30);
  const { paths } = await walk(`${listPath}?limit=7`);
  await service.stop();

  // A version with an epoch that has not started is rolled back.
  await startWith(first, ['2999-01-01T00:00:00Z', 9]);
  await createItems(10);
  expect((await walk(`${listPath}?limit=7`)).items).toEqual(newestFirst());
  await service.stop();
  await startWith(first);
  expect((await walk(`${listPath}?limit=7`)).items).toEqual(newestFirst());
  await service.stop();

  const second: [string, number] = [new Date().toISOString(), 8];
  await startWith(first, second);
  await createItems(30);
  await service.stop();

  await startWith(first, second, [new Date().toISOString(), 1]);
  await createItems(10);
  for (const limit of [1, 7, 100]) {
    expect((await walk(`${listPath}?limit=${limit}`)).items).toEqual(newestFirst());
  }
  // The cursor of the second page is from before the last two epochs.
  expect((await walk(paths[1])).items).toEqual(newestFirst().filter(({ id }) => id < created[24]!.id));
  expect(await send(interrupted)).toEqual(original);
});
