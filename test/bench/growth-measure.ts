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
import { type Pet, pets as collection, type PetStatus } from '../../shared/contract/pets.ts';
import { stackName } from '../../shared/names.ts';
import { listPartitionOf, newId } from '../../shared/storage/ids.ts';
import { indexKeys } from '../../shared/storage/collection.ts';
import { seededInteger } from '../support/fault-proxy.ts';
import type { LocalService } from '../support/local-service.ts';
import { measureInRounds, type Spread, spreadOf } from './measurements.ts';

/** Contents of a store. `pets` must be at least 1,000, because some requests read page 100 of a filtered list. */
export interface Contents {
  pets: number;
  partitions: number;
}

/** Statuses of the ten oldest pets. The statuses of the other pets repeat this sequence. */
const STATUSES = [...Array<'available'>(6).fill('available'), 'sold', 'sold', 'pending', undefined] as const;

/** Returns pet `index` of a store with `pets` pets. Their ids are spread evenly over a year. Pet 0 is the oldest pet. */
function petOf(index: number, pets: number): Pet {
  const time = Date.UTC(2025, 0, 2) + Math.floor((index / pets) * 365 * 86_400_000);
  const status = STATUSES[index % 10];
  return {
    id: newId(time, seededInteger(2 ** 12, index)),
    // The name has 20 characters, as test/bench/partitions.ts assumes.
    name: `Pet number ${index.toString().padStart(9, '0')}`,
    categoryId: BigInt(index % 10),
    ...(status && { status }),
  };
}

/** Yields the pets in a store, newest first. */
function* newestPets(pets: number): Generator<Pet> {
  for (let index = pets - 1; index >= 0; index -= 1) yield petOf(index, pets);
}

/**
 * Fills a local service's data folder. Writes directly to LevelDB in dynalite's format, so that a million pets take
 * only a minute. Then compacts LevelDB, so that it does not compact its files during the measurements.
 *
 * @param folder data folder, which is created if it does not exist
 * @param assembly folder of the synthesized template that defines the tables
 */
export async function fillStore(
  folder: string,
  assembly: string,
  { pets, partitions }: Contents,
): Promise<void> {
  const showDone = showProgress(`${pets} pets, listPartitions ${partitions}`, pets);
  const level = new ClassicLevel<string, unknown>(join(folder, 'tables'), { valueEncoding: 'json' });
  const { logicalId: TableName, properties } = readTemplate(stackName('staging'), assembly)
    .resources('AWS::DynamoDB::GlobalTable')
    .find((table) => table.properties.GlobalSecondaryIndexes.length > 0)!;
  await level.open();
  let batch = level.batch();
  const add = (entries: { key: string; value: unknown }[]) =>
    entries.forEach(({ key, value }) => batch.put(key, value));
  for (let index = 0; index < pets; index += 1) {
    const pet = petOf(index, pets);
    const keys = indexKeys(collection, pet, listPartitionOf(pet.id, partitions));
    const stored = marshall({ ...pet, creation: randomUUID(), ...keys });
    updateIndexes({ db: { batch: add } }, { TableName, ...properties }, undefined, stored, () => {});
    if (batch.length < 10_000 && index < pets - 1) continue;
    await batch.write();
    batch = level.batch();
    showDone(index + 1);
  }
  await level.compactRange('', '~');
  await level.close();
}

/** A running service that contains exactly the pets that `contents` describes. */
export type Store = LocalService & { contents: Contents };

/** One row for each kind of request. `times` contains the spread of the latencies in milliseconds for each store. */
export type Rows = { request: string; times: Spread[] }[];

interface Request {
  path: string;
  /** Body of a POST request. @default - the request is a GET */
  body?: string;
  /** Expected body of the response, without the id of a new pet. */
  expected: string;
}

/** Returns a function that creates the n-th request of one kind to a store with `pets` pets. */
type Kind = (pets: number) => (number: number) => Request;

/** Kinds of requests by row name. Creates are last because they add pets to the lists. */
const kinds: Record<string, Kind> = {
  [`list of ${PAGE.default}`]: list(1, PAGE.default),
  [`list of ${PAGE.default}, one status`]: list(1, PAGE.default, 'available'),
  'list of 5': list(1, 5),
  'list of 5, one status': list(1, 5, 'available'),
  'list of 5, page 100': list(100, 5),
  'list of 5, one status, page 100': list(100, 5, 'available'),
  get: (pets) => (number) => {
    // Multiplying by a prime number spreads the requests over all pets in the store.
    const pet = petOf((number * 7_919) % pets, pets);
    return { path: `/pets/${pet.id}`, expected: stringifyJson(pet) };
  },
  create: () => (number) => {
    const body = JSON.stringify({ name: `Pet ${number}`, categoryId: 7, status: 'available' });
    return { path: '/pets', body, expected: body };
  },
};

/** Returns the kind of request that reads page `page` of a list. The first page is page 1. */
function list(page: number, limit: number, status?: PetStatus): Kind {
  const filters = status ? { status } : {};
  return (pets) => {
    const listed = newestPets(pets).filter((pet) => !status || pet.status === status);
    const newest = listed.take(page * limit).toArray();
    const query = new URLSearchParams({ limit: `${limit}`, ...filters });
    const previous = newest.at(-limit - 1);
    if (previous) query.set('cursor', encodeCursor(collection.cursorPrefix, previous.id, filters));
    const expected = stringifyJson(newest.slice(-limit));
    return () => ({ path: `/pets?${query.toString()}`, expected });
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
    const subjects = stores.map((store) => ({ store, requestOf: kind(store.contents.pets) }));
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
