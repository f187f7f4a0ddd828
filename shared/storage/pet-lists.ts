import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { hasExactly, type ListQuery } from '../contract/lists.ts';
import { type Pet, petList } from '../contract/pets.ts';
import { type ListIndex, listIndexes } from '../list-indexes.ts';
import { requireEnvironment } from '../names.ts';
import { createClient, unmarshallOptions } from './database.ts';
import { queryLimit } from './ids.ts';
import { listPartitions, partitionKeyValue, petFields, toPet } from './pets.ts';

const client = createClient();

/** Placeholders for field names, because some field names are reserved words in DynamoDB. */
const fieldNames = Object.fromEntries(petFields.map((name) => [`#${name}`, name]));
const projection = Object.keys(fieldNames).join();

/** Item or key in DynamoDB's format. Only items on the returned page are converted to pets. */
interface Item {
  id: bigint;
  attributes: Record<string, AttributeValue>;
}

/** Query for the newest pets in a partition. If `startKey` is set, only pets that are older than this item match. */
interface PartitionQuery {
  partition: string;
  limit: number;
  startKey?: Item | undefined;
}

/** Returns the newest pets with ids below `cursor`, and in `next` the last pet's id if there is another page. */
export async function listPets(query: ListQuery): Promise<{ pets: Pet[]; next: bigint | undefined }> {
  // One additional pet is read to determine whether there is a next page.
  const newest = await readNewest(query.limit + 1, query);
  const pets = newest
    .slice(0, query.limit)
    .map(({ attributes }) => toPet(unmarshall(attributes, unmarshallOptions) as Pet));
  return { pets, next: newest.length > query.limit ? pets.at(-1)?.id : undefined };
}

/**
 * Returns the newest `count` items of the list and possibly older items, newest first. The first round of queries
 * requests each partition's expected share plus a margin. The second round queries each partition whose unread items can
 * be among the newest `count`. More rounds are needed only if a DynamoDB page reaches 1 MB before the limit.
 */
async function readNewest(count: number, list: ListQuery): Promise<Item[]> {
  const partitions = Array.from({ length: listPartitions() }, (_, index) => index.toString());
  const index = listIndexes(petList).find(({ filters }) => hasExactly(list.filters, filters))!;
  const limit = queryLimit(count, partitions.length);
  let newest: Item[] = [];
  let queries: PartitionQuery[] = partitions.map((partition) => ({ partition, limit }));
  while (queries.length > 0) {
    const pages = await Promise.all(queries.map((query) => queryPartition(query, index, list)));
    newest = [...newest, ...pages.flatMap(({ items }) => items)].toSorted((a, b) => (a.id > b.id ? -1 : 1));
    queries = pages.flatMap(({ partition, lastKey }) => {
      // A partition's unread items are older than its last key. If `count` newer items were read, no query is needed.
      const newer = lastKey ? newest.findLastIndex(({ id }) => id >= lastKey.id) + 1 : count;
      return newer < count ? [{ partition, startKey: lastKey, limit: count - newer }] : [];
    });
  }
  return newest;
}

async function queryPartition(query: PartitionQuery, index: ListIndex, { filters, cursor }: ListQuery) {
  const { partition, limit, startKey } = query;
  const { Items = [], LastEvaluatedKey } = await client.send(
    new QueryCommand({
      TableName: requireEnvironment('petsTable'),
      IndexName: index.indexName,
      KeyConditionExpression: cursor ? '#key = :key AND id < :cursor' : '#key = :key',
      ProjectionExpression: projection,
      ExpressionAttributeNames: { ...fieldNames, '#key': index.partitionKey },
      ExpressionAttributeValues: {
        ':key': { S: partitionKeyValue(index.filters, filters, partition) },
        ...(cursor && { ':cursor': { N: cursor.toString() } }),
      },
      ScanIndexForward: false,
      Limit: limit,
      ExclusiveStartKey: startKey?.attributes,
    }),
  );
  return { partition, items: Items.map(toItem), lastKey: LastEvaluatedKey && toItem(LastEvaluatedKey) };
}

function toItem(attributes: Item['attributes']): Item {
  return { id: BigInt(attributes['id']!.N!), attributes };
}
