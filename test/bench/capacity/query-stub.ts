import { marshall } from '@aws-sdk/util-dynamodb';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { fieldsOf } from '../../../shared/contract/collection.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { newId } from '../../../shared/storage/ids.ts';
import { collectionTests } from '../../collections/all.ts';
import { listenOnLoopback } from '../../support/loopback.ts';

// Process that `list-cpu.ts` starts: a stub of DynamoDB, which responds to queries of the index `newest`. Each list
// partition contains endless items, whose ids alternate between the list partitions.

const [collection] = collections;
const { newItem } = collectionTests[collection.plural];
const NEWEST_ID = newId(Date.UTC(2026, 0, 1), 0);
/** Distance of the ids in a list partition, so that up to this number of list partitions have different ids. */
const STEP = 200n;

const responses = new Map<string, string>();

const server = createServer(async (request, response) => {
  const { ExpressionAttributeValues, Limit } = JSON.parse(await text(request));
  const partition: string = ExpressionAttributeValues[':key'].S;
  const key = `${partition} ${Limit}`;
  if (!responses.has(key)) responses.set(key, JSON.stringify(pageOf(partition, Limit)));
  const body = responses.get(key)!;
  response
    .writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0', 'Content-Length': body.length })
    .end(body);
});

function pageOf(partition: string, limit: number): object {
  const Items = Array.from({ length: limit }, (_, index) => {
    const item: Record<string, unknown> = {
      ...newItem('Item'),
      id: NEWEST_ID - STEP * BigInt(index) - BigInt(partition),
    };
    const fields = fieldsOf(collection).filter((name) => name in item);
    return marshall(Object.fromEntries(fields.map((name) => [name, item[name]])));
  });
  const LastEvaluatedKey = { id: Items.at(-1)!['id'], partition: { S: partition } };
  return { Count: limit, Items, LastEvaluatedKey, ScannedCount: limit };
}

process.send!((await listenOnLoopback(server)).origin);
process.on('disconnect', () => process.exit());
