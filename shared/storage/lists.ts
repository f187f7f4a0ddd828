import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { hasExactly, type ListQuery } from '../contract/lists.ts';
import { type ListIndex, listIndexes } from '../list-indexes.ts';
import { requireEnvironment, tableVariable } from '../names.ts';
import { createClient, unmarshallOptions } from './database.ts';
import { queryLimit } from './ids.ts';
import { fieldsOf, listPartitions, partitionKeyValue, published } from './collection.ts';
import type { Collection, Item } from '../contract/collection.ts';

const client = createClient();

/** Item or key in DynamoDB's format. Only items on the returned page are unmarshalled. */
interface StoredItem {
  id: bigint;
  attributes: Record<string, AttributeValue>;
}

/** Query for the newest items in a partition. If `startKey` is set, only items that are older than this item match. */
interface PartitionQuery {
  partition: string;
  limit: number;
  startKey?: StoredItem | undefined;
}

/** Returns the newest items with ids below `cursor`, and in `next` the last item's id if there is another page. */
export async function list<C extends Collection>(
  collection: C,
  query: ListQuery,
): Promise<{ items: Item<C>[]; next: bigint | undefined }> {
  // One additional item is read to determine whether there is a next page.
  const newest = await readNewest(collection, query.limit + 1, query);
  const items = newest
    .slice(0, query.limit)
    .map(({ attributes }) => published(collection, unmarshall(attributes, unmarshallOptions)));
  return { items, next: newest.length > query.limit ? items.at(-1)?.id : undefined };
}

/**
 * Returns the newest `count` items of the list and possibly older items, newest first. The first round of queries
 * requests each partition's expected share plus a margin. The second round queries each partition whose unread items can
 * be among the newest `count`. More rounds are needed only if a DynamoDB page reaches 1 MB before the limit.
 */
async function readNewest(
  collection: Collection,
  count: number,
  { filters, cursor }: ListQuery,
): Promise<StoredItem[]> {
  const partitions = Array.from({ length: listPartitions() }, (_, index) => index.toString());
  const index = listIndexes(collection).find((one) => hasExactly(filters, one.filters))!;
  const ask = queryOf(collection, index, filters, cursor);
  const limit = queryLimit(count, partitions.length);
  let newest: StoredItem[] = [];
  let queries: PartitionQuery[] = partitions.map((partition) => ({ partition, limit }));
  while (queries.length > 0) {
    const pages = await Promise.all(queries.map(ask));
    newest = [...newest, ...pages.flatMap(({ items }) => items)].toSorted((a, b) => (a.id > b.id ? -1 : 1));
    queries = pages.flatMap(({ partition, lastKey }) => {
      // A partition's unread items are older than its last key. If `count` newer items were read, no query is needed.
      const newer = lastKey ? newest.findLastIndex(({ id }) => id >= lastKey.id) + 1 : count;
      return newer < count ? [{ partition, startKey: lastKey, limit: count - newer }] : [];
    });
  }
  return newest;
}

/** Returns a function that queries a partition of an index. */
function queryOf(
  collection: Collection,
  { indexName, partitionKey, filters: names }: ListIndex,
  filters: object,
  cursor: bigint | undefined,
) {
  // Field names have placeholders, because some are reserved words in DynamoDB.
  const fieldNames = Object.fromEntries(fieldsOf(collection).map((name) => [`#${name}`, name]));
  const ProjectionExpression = Object.keys(fieldNames).join();

  return async ({ partition, limit, startKey }: PartitionQuery) => {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: requireEnvironment(tableVariable(collection)),
        IndexName: indexName,
        KeyConditionExpression: cursor ? '#partition_key = :key AND id < :cursor' : '#partition_key = :key',
        ProjectionExpression,
        ExpressionAttributeNames: { ...fieldNames, '#partition_key': partitionKey },
        ExpressionAttributeValues: {
          ':key': { S: partitionKeyValue(names, filters, partition) },
          ...(cursor && { ':cursor': { N: cursor.toString() } }),
        },
        ScanIndexForward: false,
        Limit: limit,
        ExclusiveStartKey: startKey?.attributes,
      }),
    );
    return {
      partition,
      items: Items.map(storedItem),
      lastKey: LastEvaluatedKey && storedItem(LastEvaluatedKey),
    };
  };
}

function storedItem(attributes: StoredItem['attributes']): StoredItem {
  return { id: BigInt(attributes['id']!.N!), attributes };
}
