import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { hash } from 'node:crypto';
import { runWithOptions, UsageError } from '../../infra/command.ts';
import type { Collection } from '../../shared/contract/operation.ts';
import { collections } from '../../shared/contract/operations.ts';
import { indexKeys, listIndexes } from '../../shared/contract/lists.ts';
import { conditionHolds } from '../../shared/storage/database.ts';
import {
  client,
  describeTable,
  type Item,
  paceOf,
  PERMISSIONS,
  scanAndWrite,
  USAGE_OF_ALL,
  type Write,
} from './scan-and-write.ts';

const USAGE = `COLLECTION=NAME TABLE=TABLE node --require ./infra/require-node.cjs docs/runbook/add-index-keys.ts

Adds the keys of new combinations of filters to the items in the table of a collection. Repeat the
command until it changes nothing.

${USAGE_OF_ALL}`;

function collectionOf(name: string | undefined): Collection {
  const collection = collections.find(({ plural }) => plural === name);
  if (collection) return collection;
  const names = collections.map(({ plural }) => plural).join(' or ');
  throw new UsageError(`Set COLLECTION to ${names}.`);
}

async function addIndexKeys(): Promise<void> {
  const { COLLECTION, TABLE: TableName } = process.env;
  const collection = collectionOf(COLLECTION);
  if (!TableName) throw new UsageError('Set TABLE to the name of the table.');
  const pace = paceOf('READS_PER_SECOND');
  const table = await describeTable(TableName);

  function writesForItem(stored: Item): Write[] {
    const item: any = unmarshall(stored, { wrapNumbers: BigInt });
    const missing = Object.entries(indexKeys(listIndexes(collection), item)).filter(
      ([name, value]) => item[name] !== value,
    );
    if (missing.length === 0) return [];
    const update = new UpdateItemCommand({
      TableName,
      Key: { id: stored['id']! },
      UpdateExpression: `SET ${missing.map((_, index) => `#n${index} = :v${index}`).join()}`,
      // The condition fails if the item was deleted after the scan read it.
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeNames: Object.fromEntries(missing.map(([name], index) => [`#n${index}`, name])),
      ExpressionAttributeValues: marshall(
        Object.fromEntries(missing.map(([, value], index) => [`:v${index}`, value])),
      ),
    });
    return [() => conditionHolds(client.send(update))];
  }

  // If another index is added after an interruption, the finished segments lack its keys. The hash then makes the
  // script start again instead of resuming.
  const indexes = hash('sha256', JSON.stringify(listIndexes(collection))).slice(0, 8);
  await scanAndWrite({
    name: `progress-keys-${table.TableId}-${indexes}`,
    table,
    done: 'changed',
    async writesFor(items) {
      await pace(items.length);
      return items.flatMap(writesForItem);
    },
  });
}

await runWithOptions(USAGE, {}, addIndexKeys, { permissions: PERMISSIONS });
