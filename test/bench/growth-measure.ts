import { marshall } from '@aws-sdk/util-dynamodb';
import { ClassicLevel } from 'classic-level';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { showProgress, UsageError } from '../../infra/command.ts';
import { updateIndexes } from '../../infra/local/emulator/dynamodb/store.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { nextPage } from '../../shared/contract/lists.ts';
import { collections } from '../../shared/contract/operations.ts';
import { listPartitionOf } from '../../shared/list-partitions.ts';
import { stackName } from '../../shared/names.ts';
import { newId } from '../../shared/storage/ids.ts';
import { indexKeys, published } from '../../shared/storage/collection.ts';
import { collectionTests } from '../collections/all.ts';
import { type NewItem, variantOf } from '../support/collection-tests.ts';
import type { LocalService } from '../support/local-service.ts';
import { measureInRounds, type Spread, spreadOf } from './measurements.ts';

/** The collection whose items are in the stores. */
const [collection] = collections;
const { newItem, table, filters } = collectionTests[collection.plural];
/** The filter of the filtered lists. Undefined if the collection has no filters. */
const [filter] = filters;

/** Contents of a store. `items` must be at least 1,000, because some requests read page 100 of a filtered list. */
export interface Contents {
  items: number;
  partitions: number;
}

/** Returns whether the filtered lists contain item `index`. They contain six of ten items. */
const isInFilteredList = (index: number) => index % 10 < 6;

/** Returns item `index` of a store with `items` items. Their ids are spread evenly over a year. Item 0 is the oldest item. */
function itemOf(index: number, items: number): { id: bigint } & NewItem {
  const time = Date.UTC(2025, 0, 2) + Math.floor((index / items) * 365 * 86_400_000);
  const id = newId(time, (index * 2_654_435_761) % 2 ** 12); // the ids of one millisecond are in any order
  // With a text of 20 characters, an item has about as many bytes as infra/documents/cost/usage.ts assumes.
  const item = newItem(`Number ${index.toString().padStart(13, '0')}`);
  if (!filter) return { id, ...item };
  const { contains, omits } = filter;
  return { id, ...variantOf(item, isInFilteredList(index) ? contains : omits[index % omits.length]!) };
}

/** Yields the indexes of the items in a store, newest first. */
function* newestFirst(items: number): Generator<number> {
  for (let index = items - 1; index >= 0; index -= 1) yield index;
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
  const showDone = showProgress(`${items} ${collection.plural}, listPartitions ${partitions}`, items);
  const level = new ClassicLevel<string, unknown>(join(folder, 'tables'), { valueEncoding: 'json' });
  const { logicalId: TableName, properties } = readTemplate(stackName('staging'), assembly)
    .resources('AWS::DynamoDB::GlobalTable')
    .find(({ logicalId }) => logicalId === table.logicalId)!;
  await level.open();
  let batch = level.batch();
  const add = (entries: { key: string; value: unknown }[]) =>
    entries.forEach(({ key, value }) => batch.put(key, value));
  for (let index = 0; index < items; index += 1) {
    const item = itemOf(index, items);
    const keys = indexKeys(collection, item, listPartitionOf(item.id, [{ start: 0n, count: partitions }]));
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
  ...lists(1, PAGE.default),
  ...lists(1, 5),
  ...lists(100, 5),
  get: (items) => (number) => {
    // Multiplying by a prime number spreads the requests over all items in the store.
    const item = itemOf((number * 7_919) % items, items);
    return { path: `${collection.path}/${item.id}`, expected: textOf(item) };
  },
  create: () => (number) => {
    const item = newItem(`Item ${number}`);
    return { path: collection.path, body: stringifyJson(item), expected: textOf(item) };
  },
};

/** Returns an item as a response contains it. */
function textOf(item: object): string {
  return stringifyJson(published(collection, item));
}

/** Returns the kinds of requests that read page `page` of the lists with and without the filter. The first page is page 1. */
function lists(page: number, limit: number): Record<string, Kind> {
  const suffix = page === 1 ? '' : `, page ${page}`;
  const all = { [`list of ${limit}${suffix}`]: list(page, limit) };
  if (!filter) return all;
  const names = Object.keys(filter.query).join(' and ');
  return { ...all, [`list of ${limit}, one ${names}${suffix}`]: list(page, limit, filter.query) };
}

function list(page: number, limit: number, query?: Record<string, string>): Kind {
  return (items) => {
    const indexes = newestFirst(items).filter((index) => !query || isInFilteredList(index));
    const newest = indexes
      .take(page * limit)
      .map((index) => itemOf(index, items))
      .toArray();
    const first = { limit: `${limit}`, ...query };
    const previous = newest.at(-limit - 1);
    const path = previous
      ? nextPage(collection, v.parse(collection.operations.list.request.entries.query, first), previous.id)
      : `${collection.path}?${new URLSearchParams(first).toString()}`;
    const expected = `[${newest.slice(-limit).map(textOf).join()}]`;
    return () => ({ path, expected });
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
  const response = await request(path.replace('/v1', ''), body ? { method: 'POST', body } : {});
  const text = await response.text();
  const milliseconds = performance.now() - start;
  const withoutId = body ? text.replace(/"id":\d+,/, '') : text;
  if (response.ok && withoutId === expected) return milliseconds;
  throw new UsageError(`${path} of ${baseUrl} returned ${response.status} ${text} instead of ${expected}.`);
}
