import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { indexOf, type ListQuery, partitionKeyValue } from '../contract/lists.ts';
import { type Collection, type Item, published } from '../contract/operation.ts';
import { requireEnvironment, tableVariable } from '../names.ts';
import { database } from './database.ts';

/**
 * Returns a page of a list, newest items first, and in `next` the id of its last item if there is another page. The
 * index is eventually consistent.
 *
 * @param query filters, maximum number of items, and the id below which the page starts, if it is not the first page
 */
export async function readPage<C extends Collection>(
  collection: C,
  query: ListQuery,
  signal: AbortSignal,
): Promise<{ items: Item<C>[]; next: bigint | undefined }> {
  const { limit, cursor } = query;
  const index = indexOf(collection, query)!;
  const page = new QueryCommand({
    TableName: requireEnvironment(tableVariable(collection)),
    IndexName: index.indexName,
    KeyConditionExpression: cursor ? '#key = :key AND id < :cursor' : '#key = :key',
    // A field can have a reserved name, such as `status`.
    ExpressionAttributeNames: { '#key': index.partitionKey },
    ExpressionAttributeValues: {
      ':key': partitionKeyValue(index, query),
      ...(cursor && { ':cursor': cursor }),
    },
    ScanIndexForward: false,
    Limit: limit + 1, // One additional item shows whether there is a next page.
  });
  const { Items = [], LastEvaluatedKey } = await database.send(page, { abortSignal: signal });
  const items = Items.slice(0, limit).map((stored) => published(collection, stored));
  // DynamoDB returns fewer items than the limit if they exceed 1 MB. The next page then starts after them.
  return { items, next: Items.length > limit || LastEvaluatedKey ? items.at(-1)?.id : undefined };
}
