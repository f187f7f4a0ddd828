import { marshall } from '@aws-sdk/util-dynamodb';
import { ClassicLevel } from 'classic-level';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { showProgress, UsageError } from '../../infra/command.ts';
import { updateIndexes } from '../../infra/local/emulator/dynamodb/store.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { encodeCursor } from '../../shared/contract/cursor.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { stackName } from '../../shared/names.ts';
import { listPartitionOf, newId } from '../../shared/storage/ids.ts';
import { indexKeys } from '../../shared/storage/pets.ts';
import { seededInteger } from '../support/fault-proxy.ts';
import type { LocalService } from '../support/local-service.ts';
import {
  integerField,
  type Item,
  itemsPath,
  requiredInput,
  textField,
  validInput,
} from '../support/sample.ts';
import { measureInRounds, type Spread, spreadOf } from './measurements.ts';

/** Contents of a store. `items` must be at least 1,000, because some requests read page 100 of a filtered list. */
export interface Contents {
  items: number;
  partitions: number;
}

/** Statuses of the ten oldest items. The statuses of the other items repeat this sequence. */
const STATUSES = [...Array<'available'>(6).fill('available'), 'sold', 'sold', 'pending', undefined] as const;

/**
 * Returns item `index` of a store with `items` items. The ids of the items are spread evenly over a year. Item 0 is the
 * oldest item.
 */
function itemOf(index: number, items: number): Item {
  const time = Date.UTC(2025, 0, 2) + Math.floor((index / items) * 365 * 86_400_000);
  const status = STATUSES[index % 10];
  return {
    id: newId(time, seededInteger(2 ** 12, index)),
    ...requiredInput,
    // The text has 20 characters, as test/bench/partitions.ts assumes.
    [textField]: `Item number ${index.toString().padStart(8, '0')}`,
    [integerField]: BigInt(index % 10),
    ...(status && { status }),
  };
}

/** Yields the items in a store, newest first. */
function* newestItems(items: number): Generator<Item> {
  for (let index = items - 1; index >= 0; index -= 1) yield itemOf(index, items);
}

/**
 * Fills a local service's data folder. Writes directly to LevelDB in dynalite's format, so that a million items take
 * only a minute. Then compacts LevelDB, so that it does not compact its files during the measurements.
 *
 * @param folder data folder, which is created if it does not exist
 * @param assembly folder of the synthesized template that defines the tables
 */
export async function fillStore(
  folder: string,
  assembly: string,
  { items, partitions }: Contents,
): Promise<void> {
  const showDone = showProgress(`${items} items, listPartitions ${partitions}`, items);
  const level = new ClassicLevel<string, unknown>(join(folder, 'tables'), { valueEncoding: 'json' });
  const { logicalId: TableName, properties } = readTemplate(stackName('staging'), assembly)
    .resources('AWS::DynamoDB::GlobalTable')
    .find((table) => table.properties.GlobalSecondaryIndexes.length > 0)!;
  await level.open();
  let batch = level.batch();
  const add = (entries: { key: string; value: unknown }[]) =>
    entries.forEach(({ key, value }) => batch.put(key, value));
  for (let index = 0; index < items; index += 1) {
    const item = itemOf(index, items);
    const keys = indexKeys(item, listPartitionOf(item.id, partitions));
    const stored = marshall({ ...item, creation: randomUUID(), ...keys });
    updateIndexes({ db: { batch: add } }, { TableName, ...properties }, undefined, stored, () => {});
    if (batch.length < 10_000 && index < items - 1) continue;
    await batch.write();
    batch = level.batch();
    showDone(index + 1);
  }
  await level.compactRange('', '~');
  await level.close();
}

/** A running service that contains exactly the items that `contents` describes. */
export type Store = LocalService & { contents: Contents };

/** One row for each kind of request. `times` contains the spread of the latencies in milliseconds for each store. */
export type Rows = { request: string; times: Spread[] }[];

interface Request {
  path: string;
  /** Body of a POST request. @default - the request is a GET */
  body?: string;
  /** Expected body of the response, without the id of a new item. */
  expected: string;
}

/** Returns a function that creates the n-th request of one kind to a store with `items` items. */
type Kind = (items: number) => (number: number) => Request;

/** Kinds of requests by row name. Creates are last because they add items to the lists. */
const kinds: Record<string, Kind> = {
  [`list of ${PAGE.default}`]: list(1, PAGE.default),
  [`list of ${PAGE.default}, one status`]: list(1, PAGE.default, validInput.status),
  'list of 5': list(1, 5),
  'list of 5, one status': list(1, 5, validInput.status),
  'list of 5, page 100': list(100, 5),
  'list of 5, one status, page 100': list(100, 5, validInput.status),
  get: (items) => (number) => {
    // Multiplying by a prime number spreads the requests over all items in the store.
    const item = itemOf((number * 7_919) % items, items);
    return { path: `${itemsPath}/${item.id}`, expected: stringifyJson(item) };
  },
  create: () => (number) => {
    const body = stringifyJson({ ...validInput, [textField]: `Item ${number}` });
    return { path: itemsPath, body, expected: body };
  },
};

/** Returns the kind of request that reads page `page` of a list. The first page is page 1. */
function list(page: number, limit: number, status?: Item['status']): Kind {
  const filters = status ? { status } : {};
  return (items) => {
    const listed = newestItems(items).filter((item) => !status || item.status === status);
    const newest = listed.take(page * limit).toArray();
    const query = new URLSearchParams({ limit: `${limit}`, ...filters });
    const previous = newest.at(-limit - 1);
    if (previous) query.set('cursor', encodeCursor(previous.id, filters));
    const expected = stringifyJson(newest.slice(-limit));
    return () => ({ path: `${itemsPath}?${query.toString()}`, expected });
  };
}

/**
 * Sends requests of each kind to all stores and measures the latencies.
 *
 * @param requests number of measured requests per kind and store. The same number of warm-up requests precedes them.
 * @throws UsageError if a response does not match the store's contents
 */
export function measure(stores: Store[], requests: number): Promise<Rows> {
  return Array.fromAsync(Object.entries(kinds), async ([request, kind]) => {
    const subjects = stores.map((store) => ({ store, requestOf: kind(store.contents.items) }));
    const times = await measureInRounds(request, subjects, 2 * requests, ({ store, requestOf }, round) =>
      send(store, requestOf(round)),
    );
    return { request, times: times.map((each) => spreadOf(each.slice(requests))) };
  });
}

/** Sends a request and returns the number of milliseconds until the end of the response. */
async function send({ baseUrl, request }: Store, { path, body, expected }: Request): Promise<number> {
  const start = performance.now();
  const response = await request(path, body ? { method: 'POST', body } : {});
  const text = await response.text();
  const milliseconds = performance.now() - start;
  const withoutId = body ? text.replace(/"id":\d+,/, '') : text;
  if (response.ok && withoutId === expected) return milliseconds;
  throw new UsageError(`${baseUrl}${path} returned ${response.status} ${text} instead of ${expected}.`);
}
