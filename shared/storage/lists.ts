import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { hasExactly, type ListQuery } from '../contract/lists.ts';
import { type ListIndex, listIndexes } from '../list-indexes.ts';
import {
  epochOf,
  firstIdAt,
  ID_LIMIT,
  listEpochs,
  partitionsBelow,
  queryLimit,
  type Unread,
} from '../list-partitions.ts';
import { requireEnvironment, tableVariable } from '../names.ts';
import { createClient, unmarshallOptions } from './database.ts';
import { partitionKeyValue, published } from './collection.ts';
import { type Collection, fieldsOf, type Item } from '../contract/collection.ts';

const client = createClient();

/** Item or key in DynamoDB's format. To save CPU time, only items on the returned page are unmarshalled. */
interface StoredItem {
  id: bigint;
  attributes: Record<string, AttributeValue>;
}

/** A list partition with unread items. */
interface UnreadPartition extends Unread {
  /** Key of the last item that was read from the partition. @default - no item was read */
  lastKey?: StoredItem['attributes'];
}

/**
 * Returns a page of a list, newest items first, and in `next` the id of its last item if there is another page.
 *
 * @param query filters, maximum number of items, and the id below which the page starts, if it is not the first page
 * @param signal signal that ends the queries. No query starts after it is aborted.
 */
export async function list<C extends Collection>(
  collection: C,
  query: ListQuery,
  signal: AbortSignal,
): Promise<{ items: Item<C>[]; next: bigint | undefined }> {
  // One additional item is read to determine whether there is a next page.
  const newest = await readNewest(collection, query.limit + 1, query, signal);
  const items = newest
    .slice(0, query.limit)
    .map(({ attributes }) => published(collection, unmarshall(attributes, unmarshallOptions)));
  return { items, next: newest.length > query.limit ? items.at(-1)?.id : undefined };
}

/**
 * Returns the newest `count` items of the list and possibly older items, newest first. The first round queries the list
 * partitions of the newest epoch that the page can touch, and for a first page also those of later epochs. List
 * partitions that only an older epoch has are queried in a later round, and only if the page reaches that epoch.
 *
 * The first query of a partition requests its expected share of the items plus a margin. A partition whose unread items can
 * still be among the newest `count` is queried again. More than one such query is needed only if a DynamoDB page reaches
 * 1 MB before the limit.
 */
async function readNewest(
  collection: Collection,
  count: number,
  { filters, cursor }: ListQuery,
  signal: AbortSignal,
): Promise<StoredItem[]> {
  const epochs = listEpochs();
  const index = listIndexes(collection).find((one) => hasExactly(filters, one.filters))!;
  const ask = queryOf(collection, index, filters, cursor, signal);
  let newest: StoredItem[] = [];
  let unread: UnreadPartition[] = partitionsBelow(cursor ?? ID_LIMIT, epochs);
  // The first round of a first page reads the present epoch and all later ones, because the clocks of other instances
  // can be fast, so that an item can already belong to the next epoch.
  let reached = cursor ?? firstIdAt(Date.now() + 1);
  while (unread.length > 0) {
    const epoch = epochOf(reached - 1n, epochs);
    const pages = await Promise.all(
      unread
        .filter(({ below }) => below > epoch.start)
        .map((partition) => {
          const wanted = count - newer(newest, partition.below);
          return ask(partition, partition.lastKey ? wanted : queryLimit(wanted, epoch.count));
        }),
    );
    newest = [...newest, ...pages.flatMap(({ items }) => items)].toSorted((a, b) => (a.id > b.id ? -1 : 1));
    unread = [
      ...unread.filter(({ below }) => below <= epoch.start),
      ...pages.flatMap(({ rest }) => rest),
    ].filter(({ below }) => newer(newest, below) < count);
    reached = unread.reduce((highest, { below }) => (below > highest ? below : highest), 0n);
  }
  return newest;
}

/** Returns how many of the items are newer than all items of a partition that are still to be read. */
function newer(newest: StoredItem[], below: bigint): number {
  return newest.findLastIndex(({ id }) => id >= below) + 1;
}

/** Returns a function that queries a partition of an index. */
function queryOf(
  collection: Collection,
  { indexName, partitionKey, filters: names }: ListIndex,
  filters: object,
  cursor: bigint | undefined,
  signal: AbortSignal,
) {
  // Field names have placeholders, because some are reserved words in DynamoDB.
  const fieldNames = Object.fromEntries(fieldsOf(collection).map((name) => [`#${name}`, name]));
  const ProjectionExpression = Object.keys(fieldNames).join();

  return async ({ partition, lastKey }: UnreadPartition, limit: number) => {
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
        ExclusiveStartKey: lastKey,
      }),
      { abortSignal: signal },
    );
    const rest = LastEvaluatedKey
      ? [{ partition, below: storedItem(LastEvaluatedKey).id, lastKey: LastEvaluatedKey }]
      : [];
    return { items: Items.map(storedItem), rest };
  };
}

function storedItem(attributes: StoredItem['attributes']): StoredItem {
  return { id: BigInt(attributes['id']!.N!), attributes };
}
