import type { AbstractBatchPutOperation } from 'abstract-level';
import { ClassicLevel } from 'classic-level';
import engine, { type Item, type Store, type Table } from 'dynalite/db/index.js';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { tablesIn } from '../../infra/local/data-folder.ts';
import { startDatabase } from '../../infra/local/dynamodb/dynamodb.ts';
import { openStore } from '../../infra/local/dynamodb/store.ts';
import type { Template } from '../../infra/local/template/template.ts';
import { listPartitionOf, newPetId } from '../../shared/storage/pet-id.ts';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { seededInteger } from '../support/fault-proxy.ts';

// The pets of stores of every size, and how a million of them get into the local service's tables within a minute.

/** How many pets there are, and over how many keys of each list index they are spread. */
export interface Stock {
  pets: number;
  partitions: number;
}

/** The smallest stock that has a hundredth page of five available pets. */
export const FEWEST_PETS = 1_000;

const FIRST = Date.UTC(2025, 0, 2);
const LAST = Date.UTC(2025, 11, 31);
const RANDOM_VALUES = 2 ** 12;
/** Over and over: six pets of ten are available. */
const STATUSES = [
  'available',
  'sold',
  'available',
  'available',
  undefined,
  'available',
  'pending',
  'available',
  'sold',
  'available',
] as const satisfies (PetStatus | undefined)[];

/** The pet with this number, 0 the oldest, of so many that came at regular intervals over 2025. */
export function petOf(index: number, pets: number): Pet {
  const time = FIRST + Math.floor((index / pets) * (LAST - FIRST));
  const status = STATUSES[index % STATUSES.length];
  return {
    id: newPetId(time, seededInteger(RANDOM_VALUES, index)),
    // As long as infra/operate/cost/model.ts takes names to be.
    name: `Pet number ${index.toString().padStart(9, '0')}`,
    categoryId: BigInt(index % 10),
    ...(status && { status }),
  };
}

/** A page of the list, 1 the first, as it has to be while nobody adds pets. */
export function pageOf(pets: number, page: number, limit: number, status?: PetStatus): Pet[] {
  const found: Pet[] = [];
  for (let index = pets - 1; index >= 0 && found.length < page * limit; index -= 1) {
    if (!status || STATUSES[index % STATUSES.length] === status) found.push(petOf(index, pets));
  }
  return found.slice((page - 1) * limit);
}

/** An item as `createPet` stores it. */
function itemOf({ id, name, categoryId, status }: Pet, partitions: number): Item {
  const partition = listPartitionOf(id, partitions);
  return {
    id: { N: id.toString() },
    name: { S: name },
    categoryId: { N: categoryId.toString() },
    creation: { S: randomUUID() },
    partition: { S: partition },
    ...(status && { status: { S: status }, statusPartition: { S: `${status}#${partition}` } }),
  };
}

const WRITES_AT_ONCE = 10_000;

/**
 * Makes the data folder of a local service that has these pets. They are written into dynalite's store as dynalite would
 * write them, by its own code, without what a request costs; what then has to be sorted is sorted here and now, and not
 * while the service is measured.
 *
 * @param folder it need not be there.
 */
export async function seedPets(
  folder: string,
  template: Template,
  { pets, partitions }: Stock,
  onProgress: (pets: number) => void = () => {},
): Promise<void> {
  const path = tablesIn(folder);
  mkdirSync(path, { recursive: true });
  const tables = template.resources('AWS::DynamoDB::GlobalTable');
  await (await startDatabase({ store: await openStore(path), tables, isAllowed: () => true })).close();

  const level = new ClassicLevel<string, unknown>(path, { valueEncoding: 'json' });
  const table = (await level.get(`table~${petsTableOf(template)}`)) as Table;
  let writes: AbstractBatchPutOperation<typeof level, string, unknown>[] = [];
  const store: { db: Pick<Store['db'], 'batch'> } = {
    db: { batch: (operations) => void writes.push(...(operations as typeof writes)) },
  };
  for (let index = 0; index < pets; index += 1) {
    engine.updateIndexes(store, table, undefined, itemOf(petOf(index, pets), partitions), () => {});
    if (writes.length < WRITES_AT_ONCE) continue;
    await level.batch(writes);
    writes = [];
    onProgress(index);
  }
  await level.batch(writes);
  await level.compactRange('', '~');
  await level.close();
  onProgress(pets);
}

function petsTableOf(template: Template): string {
  const variables = template
    .resources('AWS::Lambda::Function')
    .map(({ properties }) => properties.Environment.Variables);
  return (Object.assign({}, ...variables) as Record<string, string>)['PETS_TABLE']!;
}
