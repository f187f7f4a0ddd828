import type { AbstractBatchPutOperation } from 'abstract-level';
import { ClassicLevel } from 'classic-level';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openStore, updateIndexes } from '../../infra/local/emulator/dynamodb/store.ts';
import type { Template } from '../../infra/local/emulator/template/template.ts';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { listPartitionOf, newPetId } from '../../shared/storage/pet-id.ts';
import { seededInteger } from '../support/fault-proxy.ts';

/** Contents of a store. Measurements need at least 1,000 pets because they request page 100 of a list. */
export interface Contents {
  pets: number;
  partitions: number;
}

const FIRST = Date.UTC(2025, 0, 2);
const LAST = Date.UTC(2025, 11, 31);

/** Returns pet `index` of `pets` pets that were added at regular intervals in 2025. Pet 0 is the oldest. */
export function petOf(index: number, pets: number): Pet {
  const time = FIRST + Math.floor((index / pets) * (LAST - FIRST));
  const status = statusOf(index);
  return {
    id: newPetId(time, seededInteger(2 ** 12, index)),
    // Names are as long as test/bench/partitions.ts assumes.
    name: `Pet number ${index.toString().padStart(9, '0')}`,
    categoryId: BigInt(index % 10),
    ...(status && { status }),
  };
}

/** Returns a pet's status. Of ten pets, six are available, two are sold, one is pending and one has no status. */
function statusOf(index: number): PetStatus | undefined {
  const digit = index % 10;
  return digit < 6 ? 'available' : (['sold', 'sold', 'pending'] as const)[digit - 6];
}

/** Returns the expected pets on page `page` of a list. The first page is page 1. */
export function pageOf(pets: number, page: number, limit: number, status?: PetStatus): Pet[] {
  const found: Pet[] = [];
  for (let index = pets - 1; index >= 0 && found.length < page * limit; index -= 1) {
    if (!status || statusOf(index) === status) found.push(petOf(index, pets));
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
  onProgress: (pets: number) => void = () => {},
): Promise<void> {
  const path = join(folder, 'tables');
  mkdirSync(path, { recursive: true });
  const tables = template.resources('AWS::DynamoDB::GlobalTable');
  const opened = await openStore(path);
  for (const table of tables) await opened.ensureTable(table);
  await opened.close();

  const level = new ClassicLevel<string, unknown>(path, { valueEncoding: 'json' });
  const { logicalId } = tables.find(({ properties }) => properties.GlobalSecondaryIndexes.length > 0)!;
  const table = await level.get(`table~${logicalId}`);
  let writes: AbstractBatchPutOperation<typeof level, string, unknown>[] = [];
  const store = { db: { batch: (operations: typeof writes) => void writes.push(...operations) } };
  for (let index = 0; index < pets; index += 1) {
    updateIndexes(store, table, undefined, itemOf(petOf(index, pets), partitions), () => {});
    if (writes.length < 10_000) continue;
    await level.batch(writes);
    writes = [];
    onProgress(index);
  }
  await level.batch(writes);
  await level.compactRange('', '~');
  await level.close();
}
