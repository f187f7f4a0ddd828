import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ListPetsQuery, Pet } from '../contract/schemas.ts';
import { listIndexes } from '../names.ts';
import { database } from './database.ts';
import { likelyShare } from './pet-id.ts';
import { listPartitions, petMembers, petsTable, statusPartition, toPet } from './pets.ts';

/** By placeholders, as some names are reserved words. */
const memberNames = Object.fromEntries(petMembers.map((name) => [`#${name}`, name]));
const projection = Object.keys(memberNames).join();

type LastKey = Pick<Pet, 'id'> | undefined;

/** A query for the newest pets of one partition, or for those after `startKey`. */
interface PartitionQuery {
  partition: string;
  limit: number;
  startKey?: LastKey;
}

/** One page of pets, newest first, below `cursor` if given. Its cost depends on `limit` alone. */
export async function listPets(query: ListPetsQuery): Promise<{ pets: Pet[]; next?: bigint }> {
  // One more than asked for tells whether there is a next page.
  const newest = await readNewest(query.limit + 1, query);
  const pets = newest.slice(0, query.limit).map(toPet);
  const last = pets.at(-1);
  return newest.length > query.limit && last ? { pets, next: last.id } : { pets };
}

/**
 * Pets, newest first, of which the first `count` are the newest. The first round queries each partition for its likely
 * share. The second round queries those that may hide newer pets for as many as can be missing, so that afterwards
 * `count` pets are newer than all unread ones. More rounds follow only if DynamoDB returns fewer items than the limit
 * (1 MB a page).
 */
async function readNewest(count: number, list: ListPetsQuery): Promise<Pet[]> {
  const partitions = Array.from({ length: listPartitions() }, (_, index) => index.toString());
  const limit = likelyShare(count, partitions.length);
  let newest: Pet[] = [];
  let queries: PartitionQuery[] = partitions.map((partition) => ({ partition, limit }));
  while (queries.length > 0) {
    const pages = await Promise.all(queries.map((query) => queryPartition(query, list)));
    newest = [...newest, ...pages.flatMap(({ items }) => items)].toSorted((one, other) =>
      one.id > other.id ? -1 : 1,
    );
    queries = pages.flatMap(({ partition, lastKey }) => {
      // What is unread in a partition has ids below its last key.
      const newer = lastKey ? newest.findLastIndex(({ id }) => id >= lastKey.id) + 1 : count;
      return newer < count ? [{ partition, startKey: lastKey, limit: count - newer }] : [];
    });
  }
  return newest;
}

async function queryPartition(
  { partition, limit, startKey }: PartitionQuery,
  { status, cursor }: ListPetsQuery,
): Promise<{ partition: string; items: Pet[]; lastKey: LastKey }> {
  const { indexName, partitionKey } = status ? listIndexes.newestByStatus : listIndexes.newest;
  const key = status ? statusPartition(status, partition) : partition;
  const { Items, LastEvaluatedKey } = await database.send(
    new QueryCommand({
      TableName: petsTable(),
      IndexName: indexName,
      KeyConditionExpression: cursor ? '#key = :key AND id < :cursor' : '#key = :key',
      ProjectionExpression: projection,
      ExpressionAttributeNames: { ...memberNames, '#key': partitionKey },
      ExpressionAttributeValues: { ':key': key, ...(cursor && { ':cursor': cursor }) },
      ScanIndexForward: false,
      Limit: limit,
      ExclusiveStartKey: startKey,
    }),
  );
  return { partition, items: (Items ?? []) as Pet[], lastKey: LastEvaluatedKey as LastKey };
}
