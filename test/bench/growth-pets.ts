import type { AbstractBatchPutOperation } from 'abstract-level';
import { ClassicLevel } from 'classic-level';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { updateIndexes } from '../../infra/local/emulator/dynamodb/store.ts';
import type { Template } from '../../infra/local/emulator/template/template.ts';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { listPartitionOf, newId } from '../../shared/storage/ids.ts';
import { seededInteger } from '../support/fault-proxy.ts';

/** Contents of a store. Measurements need at least 1,000 pets because they request page 100 of a list. */
export interface Contents {
  pets: number;
  partitions: number;
}

const FIRST = Date.UTC(2025, 0, 2);
const LAST = Date.UTC(2025, 11, 31);

/** Statuses of ten consecutive pets, which are repeated. */
const STATUSES = [...Array<'available'>(6).fill('available'), 'sold', 'sold', 'pending', undefined] as const;

/** Returns pet `index` of `pets` pets that were added at regular intervals in 2025. Pet 0 is the oldest. */
export function petOf(index: number, pets: number): Pet {
  const time = FIRST + Math.floor((index / pets) * (LAST - FIRST));
  const status = STATUSES[index % 10];
  return {
    id: newId(time, seededInteger(2 ** 12, index)),
    // Names are as long as test/bench/partitions.ts assumes.
    name: `Pet number ${index.toString().padStart(9, '0')}`,
    categoryId: BigInt(index % 10),
    ...(status && { status }),
  };
}

/** Returns the expected pets on page `page` of a list. The first page is page 1. */
export function pageOf(pets: number, page: number, limit: number, status?: PetStatus): Pet[] {
  const found: Pet[] = [];
  for (let index = pets - 1; index >= 0 && found.length < page * limit; index -= 1) {
    if (!status || STATUSES[index % 10] === status) found.push(petOf(index, pets));
  }
  return found.slice((page - 1) * limit);
}

function itemOf({ id, name, categoryId, status }: Pet, partitions: number): object {
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

/**
 * Fills a local service's data folder. Calls dynalite's internal functions, which write a million pets in a minute.
 * Compacts LevelDB so that it does not compact during the measurements.
 *
 * @param folder data folder, which is created if it does not exist
 */
export async function seedPets(
  folder: string,
  template: Template,
  { pets, partitions }: Contents,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  const level = new ClassicLevel<string, unknown>(join(folder, 'tables'), { valueEncoding: 'json' });
  const { logicalId: TableName, properties } = template
    .resources('AWS::DynamoDB::GlobalTable')
    .find((table) => table.properties.GlobalSecondaryIndexes.length > 0)!;
  let writes: AbstractBatchPutOperation<typeof level, string, unknown>[] = [];
  const store = { db: { batch: (operations: typeof writes) => void writes.push(...operations) } };
  for (let index = 0; index < pets; index += 1) {
    const item = itemOf(petOf(index, pets), partitions);
    updateIndexes(store, { TableName, ...properties }, undefined, item, () => {});
    if (writes.length < 10_000 && index < pets - 1) continue;
    await level.batch(writes);
    writes = [];
    onProgress(index + 1);
  }
  await level.compactRange('', '~');
  await level.close();
}
