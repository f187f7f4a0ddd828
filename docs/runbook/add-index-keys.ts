import { paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionHolds, connect } from '../../shared/storage/database.ts';
import { petList } from '../../shared/contract/pets.ts';
import { indexKeys } from '../../shared/storage/collection.ts';
import { runWithOptions } from '../../infra/command.ts';

const USAGE = `TABLE=TABLE node --require ./infra/require-node.cjs docs/runbook/add-index-keys.ts

Adds the keys of new indexes to the pets in a table. Repeat the command until it changes nothing.`;

const SEGMENTS = 8;

async function addIndexKeys(): Promise<void> {
  const { TABLE: TableName } = process.env;
  const client = connect({ maxAttempts: 10 });
  const count = { read: 0, changed: 0 };

  async function addKeys(pet: any): Promise<void> {
    // Pets keep their list partition, even if the number of partitions has changed since they were stored.
    const missing = Object.entries(indexKeys(petList, pet, pet.partition)).filter(
      ([name, value]) => pet[name] !== value,
    );
    if (missing.length === 0) return;
    const update = new UpdateCommand({
      TableName,
      Key: { id: pet.id },
      UpdateExpression: `SET ${missing.map((_, index) => `#n${index} = :v${index}`).join()}`,
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeNames: Object.fromEntries(missing.map(([name], index) => [`#n${index}`, name])),
      ExpressionAttributeValues: Object.fromEntries(missing.map(([, value], index) => [`:v${index}`, value])),
    });
    // The condition fails if the pet was deleted after the scan read it.
    if (await conditionHolds(client.send(update))) count.changed += 1;
  }

  async function scanSegment(Segment: number): Promise<void> {
    const scan = { TableName, Segment, TotalSegments: SEGMENTS, ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client, pageSize: 100 }, scan)) {
      for (const pet of Items) await addKeys(pet);
      count.read += Items.length;
      console.log(`${count.read} read, ${count.changed} changed`);
    }
  }
  await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => scanSegment(segment)));
}

await runWithOptions(USAGE, {}, addIndexKeys);
