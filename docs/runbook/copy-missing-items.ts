import { BatchGetItemCommand, PutItemCommand, type TableDescription } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { runWithOptions, UsageError } from '../../infra/command.ts';
import { collections } from '../../shared/contract/operations.ts';
import { indexKeys, listIndexes } from '../../shared/contract/lists.ts';
import { keyIndex } from '../../shared/names.ts';
import { conditionHolds } from '../../shared/storage/database.ts';
import { prepareKeys, revokedKeys, USAGE_OF_KEYS } from './restored-keys.ts';
import {
  client,
  CONCURRENT_REQUESTS,
  describeTable,
  forEachOf,
  type Item,
  paceOf,
  PERMISSIONS,
  scanAndWrite,
  USAGE_OF_ALL,
  type Write,
} from './scan-and-write.ts';

const USAGE = `SOURCE=TABLE TARGET=TABLE node --require ./infra/require-node.cjs docs/runbook/copy-missing-items.ts

Copies the items in the table SOURCE that the table TARGET does not contain, and adds the keys of TARGET's indexes.

${USAGE_OF_KEYS}

${USAGE_OF_ALL}`;

/**
 * Maximum number of keys in a BatchGetItem request.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
 */
const MAX_KEYS = 100;
const MAX_BACKOFF_MILLISECONDS = 20_000;

/**
 * Returns the indexes of a table whose keys are known.
 *
 * @throws UsageError if the table has an index of neither a collection nor API keys, because its keys are then unknown
 */
function listIndexesOf({ TableName, GlobalSecondaryIndexes = [] }: TableDescription) {
  const known = new Map(
    collections.flatMap((collection) =>
      listIndexes(collection).map((index) => [index.indexName, index] as const),
    ),
  );
  const names = GlobalSecondaryIndexes.map(({ IndexName }) => IndexName!);
  const unknown = names.filter((name) => name !== keyIndex.indexName && !known.has(name));
  if (unknown.length > 0)
    throw new UsageError(
      `This version of the project does not know the index ${unknown.join()} of ${TableName}. ` +
        'Check out the commit that was deployed last, and repeat the command.',
    );
  return names.flatMap((name) => (known.has(name) ? [known.get(name)!] : []));
}

async function copyMissingItems(): Promise<void> {
  const { SOURCE, TARGET } = process.env;
  if (!SOURCE || !TARGET || SOURCE === TARGET)
    throw new UsageError('Set SOURCE and TARGET to the names of different tables.');
  const [source, target] = await Promise.all([describeTable(SOURCE), describeTable(TARGET)]);

  const names = target.KeySchema!.map(({ AttributeName }) => AttributeName!);
  const sourceNames = source.KeySchema!.map(({ AttributeName }) => AttributeName!);
  if (sourceNames.join() !== names.join())
    throw new UsageError(
      `The items of ${SOURCE} have the key ${sourceNames.join()}, and those of ${TARGET} have the key ${names.join()}. ` +
        'Set SOURCE and TARGET to tables of the same items.',
    );
  const keyOf = (item: Item) => Object.fromEntries(names.map((name) => [name, item[name]!]));
  const textOf = (item: Item) => JSON.stringify(names.map((name) => item[name]));
  const indexNames = target.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName) ?? [];
  const areKeys = indexNames.includes(keyIndex.indexName);
  if (!areKeys && names.join() === 'hash')
    throw new UsageError(
      `${TARGET} has the key of a table of API keys, but no index ${keyIndex.indexName}. ` +
        "Set TARGET to the stage's table of API keys.",
    );
  // The expression contains placeholders, because DynamoDB could reserve the name of a key attribute.
  const ExpressionAttributeNames = Object.fromEntries(names.map((name, index) => [`#key${index}`, name]));
  const ProjectionExpression = Object.keys(ExpressionAttributeNames).join();

  const pace = paceOf('READS_PER_SECOND');
  const indexes = listIndexesOf(target);

  /** Returns the item with the keys of all indexes, because an index can be newer than the item in SOURCE. */
  function withIndexKeys(stored: Item): Item {
    if (indexes.length === 0) return stored;
    const item = unmarshall(stored, { wrapNumbers: BigInt });
    return { ...stored, ...marshall(indexKeys(indexes, item)) };
  }

  /** Returns those of up to 100 items that TARGET does not contain. */
  async function missingOf(items: Item[]): Promise<Item[]> {
    await pace(items.length);
    const missing = new Map(items.map((item) => [textOf(item), item]));
    let Keys = items.map(keyOf);
    for (let attempt = 0; Keys.length > 0; attempt += 1) {
      // If DynamoDB throttles the table, it does not look up all keys. The others are requested again after a pause.
      if (attempt > 0)
        await setTimeout(Math.random() * Math.min(50 * 2 ** attempt, MAX_BACKOFF_MILLISECONDS));
      const lookUp = { Keys, ConsistentRead: true, ProjectionExpression, ExpressionAttributeNames };
      const request = new BatchGetItemCommand({ RequestItems: { [TARGET!]: lookUp } });
      const { Responses, UnprocessedKeys } = await client.send(request);
      for (const key of Responses?.[TARGET!] ?? []) missing.delete(textOf(key));
      Keys = UnprocessedKeys?.[TARGET!]?.Keys ?? [];
    }
    return [...missing.values()];
  }

  // The condition fails if a client has created the item after the lookup.
  const isMissing = {
    ConditionExpression: 'attribute_not_exists(#key)',
    ExpressionAttributeNames: { '#key': names[0]! },
  };
  const copyOf = (item: Item) =>
    new PutItemCommand({ TableName: TARGET, Item: withIndexKeys(item), ...isMissing });

  async function writesFor(items: Item[]): Promise<Write[]> {
    const chunks = Array.from({ length: Math.ceil(items.length / MAX_KEYS) }, (_, index) =>
      items.slice(index * MAX_KEYS, (index + 1) * MAX_KEYS),
    );
    const missing: Item[] = [];
    await forEachOf(chunks, CONCURRENT_REQUESTS, async (chunk) => {
      missing.push(...(await missingOf(chunk)));
    });
    return missing.map((item) => () => conditionHolds(client.send(copyOf(item))));
  }

  const name = `progress-copy-${source.TableId}-${target.TableId}`;
  if (!areKeys) return scanAndWrite({ name, table: source, done: 'copied', writesFor });

  const revoked = revokedKeys();
  const writeFor = await prepareKeys(SOURCE, TARGET, revoked);
  await scanAndWrite({
    // If REVOKED changes after an interruption, the finished segments lack revocations. The hash then makes the script
    // start again instead of resuming.
    name: `${name}-${hash('sha256', [...revoked].toSorted().join()).slice(0, 8)}`,
    table: source,
    done: 'copied',
    async writesFor(records) {
      await pace(records.length);
      return records.map(writeFor);
    },
  });
}

await runWithOptions(USAGE, {}, copyMissingItems, { permissions: PERMISSIONS });
