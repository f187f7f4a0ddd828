import { marshall } from '@aws-sdk/util-dynamodb';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { newApiKey } from '../../shared/api-keys.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { requireTool } from '../support/tools.ts';

const headers = {
  Server: 'Server',
  'Content-Type': 'application/x-amz-json-1.0',
  'x-amzn-RequestId': 'VB2KQ5BJ8EL9H7C1S4UR5J2T3NVV4KQNSO5AEMVJF66Q9ASUAAJG',
  'x-amz-crc32': '2745614147',
};

export type StubDatabase = Awaited<ReturnType<typeof startStubDatabase>>;

/** Starts a stub of DynamoDB with TLS, whose certificate is written to `folder`. */
export async function startStubDatabase(folder: string) {
  // The key has 2,048 bits, like DynamoDB's RSA key. https://github.com/jfromaniello/selfsigned
  const { private: key, cert } = await requireTool('selfsigned').generate(
    [{ name: 'commonName', value: 'localhost' }],
    { keySize: 2_048, algorithm: 'sha256' },
  );
  const certificateFile = join(folder, 'certificate.pem');
  writeFileSync(certificateFile, cert);

  const { key: apiKey, record } = newApiKey('staging', { owner: 'Benchmark', caller: 'Benchmark' });
  const bodies = new Map<string, string>();
  const server = createServer({ key, cert }, async (request, response) => {
    const [, action = ''] = String(request.headers['x-amz-target']).split('.');
    const input = await text(request);
    // Equal requests share a cached response. PutItem requests are never equal, but all have the same response.
    const cacheKey = action === 'PutItem' ? action : input;
    const body = bodies.get(cacheKey) ?? JSON.stringify(outputOf(action, JSON.parse(input), record));
    bodies.set(cacheKey, body);
    if (database.delayMilliseconds > 0) await setTimeout(database.delayMilliseconds);
    response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
  });
  server.keepAliveTimeout = 0;
  const { origin, close } = await listenOnLoopback(server);
  const database = {
    /** The only API key that the stub stores. */
    apiKey,
    /** Environment variables that functions need to connect to the database. */
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: origin.replace('http://127.0.0.1', 'https://localhost'),
      NODE_EXTRA_CA_CERTS: certificateFile,
    },
    /** Delay before each response. A benchmark can change this property while the stub runs. */
    delayMilliseconds: 0,
    close,
  };
  return database;
}

/** Returns the output of an operation for an input. @param record record of the only API key */
function outputOf(action: string, input: any, record: { hash: string }): object {
  if (action === 'Query') return page(input);
  if (action !== 'GetItem') return {};
  if (input.Key.hash) return input.Key.hash.S === record.hash ? { Item: marshall(record) } : {};
  // Priming requests the id 0, which no pet has.
  return input.Key.id?.N === '0' ? {} : { Item: petAt(0) };
}

function page({ Limit, ExpressionAttributeNames: names, ProjectionExpression }: any) {
  const projected = ProjectionExpression?.split(',').map((name: string) => names[name.trim()]);
  const Items = Array.from({ length: Limit }, (_, index) =>
    Object.fromEntries(Object.entries(petAt(index)).filter(([name]) => projected?.includes(name) ?? true)),
  );
  const LastEvaluatedKey = { id: { N: petId(Limit - 1) }, list: { S: 'all' } };
  return { Count: Limit, Items, LastEvaluatedKey, ScannedCount: Limit };
}

/** Returns the id of the pet `index` in the list. The newest pet has the index 0. */
export function petId(index: number): string {
  return (244_813_135_872_000 - index * 64).toString();
}

/** Returns a stored pet, including the attributes that responses omit. */
const petAt = (index: number) => ({
  id: { N: petId(index) },
  name: { S: 'Rex' },
  categoryId: { N: '7' },
  status: { S: 'available' },
  creation: { S: '6f1ed002-ab5c-4f2e-9f38-08f7a5c0a4ce' },
  list: { S: 'all' },
});
