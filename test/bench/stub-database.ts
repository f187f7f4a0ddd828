import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

// Stub of DynamoDB, which runs in its own process. It caches responses, because equal requests get equal responses.

export interface StubDatabaseOptions {
  key: string;
  certificate: string;
  /** The only API key's record. */
  apiKeyRecord: Record<string, { S: string }>;
}

type Item = Record<string, Partial<Record<'N' | 'S', string>>>;

interface Input {
  Limit?: number;
  Key?: Item;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
  ProjectionExpression?: string;
}

const { key, certificate, apiKeyRecord }: StubDatabaseOptions = JSON.parse(process.env['STUB_DATABASE']!);

const NEWEST_ID = 244_813_135_872_000;
/** Distance between pet ids in one list partition. The ids between them belong to up to 63 other list partitions. */
const IDS_BETWEEN_PETS = 64;

function pet(index: number, partition: string): Item {
  return {
    id: { N: (NEWEST_ID - index * IDS_BETWEEN_PETS - Number(partition)).toString() },
    name: { S: `Rex the ${index}th of his kind` },
    categoryId: { N: (index % 10).toString() },
    status: { S: 'available' },
    creation: { S: '6f1ed002-ab5c-4f2e-9f38-08f7a5c0a4ce' },
    partition: { S: partition },
    statusPartition: { S: `available#${partition}` },
  };
}

const actions: Record<string, (input: Input) => object> = {
  Query({ Limit = 1, ExpressionAttributeNames = {}, ExpressionAttributeValues = {}, ProjectionExpression }) {
    const partition = ExpressionAttributeValues[':key']?.S ?? '0';
    const names = ProjectionExpression?.split(',').map((name) => ExpressionAttributeNames[name.trim()]);
    const Items = Array.from({ length: Limit }, (_, index) => {
      const attributes = Object.entries(pet(index, partition));
      return Object.fromEntries(attributes.filter(([name]) => !names || names.includes(name)));
    });
    const LastEvaluatedKey = { id: Items.at(-1)!['id'], partition: { S: partition } };
    return { Count: Limit, Items, LastEvaluatedKey, ScannedCount: Limit };
  },
  GetItem({ Key = {} }) {
    if (Key['hash']) return Key['hash'].S === apiKeyRecord['hash']!.S ? { Item: apiKeyRecord } : {};
    // Priming requests the id 0, which no pet has.
    return Key['id']?.N === '0' ? {} : { Item: pet(0, '0') };
  },
  PutItem: () => ({}),
};

const bodies = new Map<string, Buffer>();
let milliseconds = 0;

const server = createServer({ key, cert: certificate }, async (request, response) => {
  const [, action = ''] = String(request.headers['x-amz-target']).split('.');
  const input = (await json(request)) as Input;
  // The item of a PutItem is not part of the cache key, because every PutItem gets the same response.
  const { Limit, Key, ExpressionAttributeValues, ProjectionExpression } = input;
  const cacheKey = JSON.stringify([action, Limit, Key, ExpressionAttributeValues, ProjectionExpression]);
  const body = bodies.get(cacheKey) ?? Buffer.from(JSON.stringify(actions[action]!(input)));
  bodies.set(cacheKey, body);
  if (milliseconds > 0) await setTimeout(milliseconds);
  response.writeHead(200, {
    Server: 'Server',
    'Content-Type': 'application/x-amz-json-1.0',
    'Content-Length': body.length,
    'x-amzn-RequestId': 'VB2KQ5BJ8EL9H7C1S4UR5J2T3NVV4KQNSO5AEMVJF66Q9ASUAAJG',
    'x-amz-crc32': '2745614147',
  });
  response.end(body);
});
server.keepAliveTimeout = 0;
await once(server.listen(0, '127.0.0.1'), 'listening');
process.send!((server.address() as AddressInfo).port);
process.on('message', (delay: number) => {
  milliseconds = delay;
  process.send!('done');
});
// The parent process disconnects when it exits or stops the database.
process.once('disconnect', () => process.exit());
