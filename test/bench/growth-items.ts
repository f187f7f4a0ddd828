import { marshall } from '@aws-sdk/util-dynamodb';
import { ClassicLevel } from 'classic-level';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { showProgress } from '../../infra/command.ts';
import { updateIndexes } from '../../infra/local/emulator/dynamodb/store.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { stackName } from '../../shared/names.ts';
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

/** Returns the `count` newest of `items` items, or the newest with this status. The newest item is first. */
export function newestItems(items: number, count: number, status?: Item['status']): Item[] {
  const found: Item[] = [];
  for (let index = items - 1; found.length < count; index -= 1) {
    if (!status || STATUSES[index % 10] === status) found.push(itemOf(index, items));
  }
  return found;
}

/**
 * Fills a local service's data folder. Calls dynalite's internal functions, which write a million items in a minute.
 * Compacts LevelDB so that it does not compact during the measurements.
 *
 * @param folder data folder, which is created if it does not exist
 * @param assembly folder with the template of the tables
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
  const put = (writes: { key: string; value: unknown }[]) =>
    writes.forEach(({ key, value }) => batch.put(key, value));
  for (let index = 0; index < items; index += 1) {
    const item = itemOf(index, items);
    const keys = indexKeys(item, listPartitionOf(item.id, partitions));
    const stored = marshall({ ...item, creation: randomUUID(), ...keys });
    updateIndexes({ db: { batch: put } }, { TableName, ...properties }, undefined, stored, () => {});
    if (batch.length < 10_000 && index < items - 1) continue;
    await batch.write();
    batch = level.batch();
    showDone(index + 1);
  }
  await level.compactRange('', '~');
  await level.close();
}
