import { paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionHolds, connect } from '../../shared/storage/database.ts';
import type { Collection } from '../../shared/contract/collection.ts';
import { collections } from '../../shared/contract/operations.ts';
import { indexKeys } from '../../shared/storage/collection.ts';
import { runWithOptions, UsageError } from '../../infra/command.ts';

const USAGE = `COLLECTION=NAME TABLE=TABLE node --require ./infra/require-node.cjs docs/runbook/add-index-keys.ts

Adds the keys of new indexes to the items in the table of a collection. Repeat the command until it changes nothing.`;

const SEGMENTS = 8;

function collectionOf(name: string | undefined): Collection {
  const collection = collections.find(({ plural }) => plural === name);
  if (collection) return collection;
  const names = collections.map(({ plural }) => plural).join(' or ');
  throw new UsageError(`Set COLLECTION to ${names}.`);
}

async function addIndexKeys(): Promise<void> {
  const { COLLECTION, TABLE: TableName } = process.env;
  const collection = collectionOf(COLLECTION);
  const client = connect({ maxAttempts: 10 });
  const count = { read: 0, changed: 0 };

  async function addKeys(item: any): Promise<void> {
    // Items keep their list partition, even if the number of partitions has changed since they were stored.
    const missing = Object.entries(indexKeys(collection, item, item.partition)).filter(
      ([name, value]) => item[name] !== value,
    );
    if (missing.length === 0) return;
    const update = new UpdateCommand({
      TableName,
      Key: { id: item.id },
      UpdateExpression: `SET ${missing.map((_, index) => `#n${index} = :v${index}`).join()}`,
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeNames: Object.fromEntries(missing.map(([name], index) => [`#n${index}`, name])),
      ExpressionAttributeValues: Object.fromEntries(missing.map(([, value], index) => [`:v${index}`, value])),
    });
    // The condition fails if the item was deleted after the scan read it.
    if (await conditionHolds(client.send(update))) count.changed += 1;
  }

  async function scanSegment(Segment: number): Promise<void> {
    const scan = { TableName, Segment, TotalSegments: SEGMENTS, ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client, pageSize: 100 }, scan)) {
      for (const item of Items) await addKeys(item);
      count.read += Items.length;
      console.log(`${count.read} read, ${count.changed} changed`);
    }
  }
  await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => scanSegment(segment)));
}

await runWithOptions(USAGE, {}, addIndexKeys);
