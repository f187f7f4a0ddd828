import { marshall } from '@aws-sdk/util-dynamodb';
import type { AbstractBatchPutOperation } from 'abstract-level';
import { ClassicLevel } from 'classic-level';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { showProgress } from '../../infra/command.ts';
import { updateIndexes } from '../../infra/local/emulator/dynamodb/store.ts';
import type { Template } from '../../infra/local/emulator/template/template.ts';
import { listPartitionOf, newId } from '../../shared/storage/ids.ts';
import { indexKeys } from '../../shared/storage/pets.ts';
import { seededInteger } from '../support/fault-proxy.ts';
import { integerField, type Item, textField, validInput } from '../support/sample.ts';

/** Contents of a store. Measurements need at least 1,000 items because they request page 100 of a list. */
export interface Contents {
  items: number;
  partitions: number;
}

const FIRST = Date.UTC(2025, 0, 2);
const LAST = Date.UTC(2025, 11, 31);

/** Statuses of ten consecutive items, which are repeated. */
const STATUSES = [...Array<'available'>(6).fill('available'), 'sold', 'sold', 'pending', undefined] as const;

/** Returns item `index` of `items` items that were added at regular intervals in 2025. Item 0 is the oldest. */
export function itemOf(index: number, items: number): Item {
  const time = FIRST + Math.floor((index / items) * (LAST - FIRST));
  const { status: _, ...required } = validInput;
  const status = STATUSES[index % 10];
  return {
    id: newId(time, seededInteger(2 ** 12, index)),
    ...required,
    // Texts are as long as test/bench/partitions.ts assumes.
    [textField]: `Item number ${index.toString().padStart(8, '0')}`,
    [integerField]: BigInt(index % 10),
    ...(status && { status }),
  };
}

/** Returns the expected items on page `page` of a list. The first page is page 1. */
export function pageOf(items: number, page: number, limit: number, status?: Item['status']): Item[] {
  const found: Item[] = [];
  for (let index = items - 1; index >= 0 && found.length < page * limit; index -= 1) {
    if (!status || STATUSES[index % 10] === status) found.push(itemOf(index, items));
  }
  return found.slice((page - 1) * limit);
}

/**
 * Fills a local service's data folder. Calls dynalite's internal functions, which write a million items in a minute.
 * Compacts LevelDB so that it does not compact during the measurements.
 *
 * @param folder data folder, which is created if it does not exist
 */
export async function fillStore(
  folder: string,
  template: Template,
  { items, partitions }: Contents,
): Promise<void> {
  const showDone = showProgress(`${items} items, listPartitions ${partitions}`, items);
  const level = new ClassicLevel<string, unknown>(join(folder, 'tables'), { valueEncoding: 'json' });
  const { logicalId: TableName, properties } = template
    .resources('AWS::DynamoDB::GlobalTable')
    .find((table) => table.properties.GlobalSecondaryIndexes.length > 0)!;
  let writes: AbstractBatchPutOperation<typeof level, string, unknown>[] = [];
  const store = { db: { batch: (operations: typeof writes) => void writes.push(...operations) } };
  for (let index = 0; index < items; index += 1) {
    const item = itemOf(index, items);
    const keys = indexKeys(item, listPartitionOf(item.id, partitions));
    const stored = marshall({ ...item, creation: randomUUID(), ...keys });
    updateIndexes(store, { TableName, ...properties }, undefined, stored, () => {});
    if (writes.length < 10_000 && index < items - 1) continue;
    await level.batch(writes);
    writes = [];
    showDone(index + 1);
  }
  await level.compactRange('', '~');
  await level.close();
}
