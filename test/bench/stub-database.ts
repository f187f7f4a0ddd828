import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

// The database of the benchmark, in a process of its own: it answers at once, or after as long as it is told, and always the
// same to the same.

export interface StubDatabaseOptions {
  key: string;
  certificate: string;
  /** The only item of the table of API keys. */
  apiKeyRecord: Record<string, { S: string }>;
}

type AttributeValue = Partial<Record<'N' | 'S', string>>;

interface Input {
  Limit?: number;
  Key?: Record<string, AttributeValue>;
  ExpressionAttributeValues?: Record<string, AttributeValue>;
}

const { key, certificate, apiKeyRecord } = JSON.parse(
  process.env['STUB_DATABASE'] ?? '',
) as StubDatabaseOptions;

const NEWEST_ID = 244_813_135_872_000;
/** So that lists over several partitions have pets of each. */
const IDS_BETWEEN_PETS = 64;

function pet(index: number, partition: string): Record<string, AttributeValue> {
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

const answers: Record<string, (input: Input) => object> = {
  Query({ Limit = 1, ExpressionAttributeValues = {} }) {
    const partition = ExpressionAttributeValues[':key']?.S ?? '0';
    const Items = Array.from({ length: Limit }, (_, index) => pet(index, partition));
    const { id } = Items.at(-1)!;
    return {
      Count: Limit,
      Items,
      LastEvaluatedKey: { id, partition: { S: partition } },
      ScannedCount: Limit,
    };
  },
  GetItem({ Key = {} }) {
    if (Key['hash']) return Key['hash'].S === apiKeyRecord['hash']!.S ? { Item: apiKeyRecord } : {};
    // What makes ready for requests may ask for a pet that nobody has.
    return Key['id']?.N === '0' ? {} : { Item: pet(0, '0') };
  },
  PutItem: () => ({}),
};

const written = new Map<string, Buffer>();
let answersAfterMilliseconds = 0;

const server = createServer({ key, cert: certificate }, async (request, response) => {
  const [, action = ''] = String(request.headers['x-amz-target']).split('.');
  const input = (await json(request)) as Input;
  // Each create has an item of its own, whose answer is that of all.
  const { Limit, Key, ExpressionAttributeValues } = input;
  const name = JSON.stringify([action, Limit, Key, ExpressionAttributeValues]);
  const body = written.get(name) ?? Buffer.from(JSON.stringify(answers[action]!(input)));
  written.set(name, body);
  if (answersAfterMilliseconds > 0) await setTimeout(answersAfterMilliseconds);
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
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send!((server.address() as AddressInfo).port);
process.on('message', (milliseconds: number) => {
  answersAfterMilliseconds = milliseconds;
  process.send!('from now on');
});
// It goes with the benchmark.
process.once('disconnect', () => process.exit());
