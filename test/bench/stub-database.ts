import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { indexKeys, listIndexes } from '../../shared/contract/lists.ts';
import { collections } from '../../shared/contract/operations.ts';
import { newApiKey } from '../../shared/api-keys.ts';
import { collectionTests } from '../collections/all.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { requireTool } from '../support/tools.ts';

const headers = {
  Server: 'Server',
  'Content-Type': 'application/x-amz-json-1.0',
  'x-amzn-RequestId': 'VB2KQ5BJ8EL9H7C1S4UR5J2T3NVV4KQNSO5AEMVJF66Q9ASUAAJG',
  'x-amz-crc32': '2745614147',
};

export type StubDatabase = Awaited<ReturnType<typeof startStubDatabase>>;

/** Functions by operation, such as `GetItem`. They return an operation's output for an input. */
type Actions = Record<string, (input: any) => object>;

/**
 * Starts a stub of DynamoDB with TLS.
 *
 * @param folder output folder for the certificate
 * @param others operations that functions do not use
 */
export async function startStubDatabase(folder: string, others: Actions = {}) {
  // The key has 2,048 bits, like DynamoDB's RSA key. https://github.com/jfromaniello/selfsigned
  const { private: key, cert } = await requireTool('selfsigned').generate(
    [{ name: 'commonName', value: 'localhost' }],
    { keySize: 2_048, algorithm: 'sha256' },
  );
  const certificateFile = join(folder, 'certificate.pem');
  writeFileSync(certificateFile, cert);

  const { key: apiKey, record } = newApiKey('staging', { owner: 'Benchmark', caller: 'Benchmark' });
  const actions = { ...actionsWith(marshall(record)), ...others };
  const bodies = new Map<string, Buffer>();
  const server = createServer({ key, cert }, async (request, response) => {
    const [, action = ''] = String(request.headers['x-amz-target']).split('.');
    const input = await text(request);
    // Equal requests share a cached response. PutItem requests are never equal, but all have the same response.
    const cacheKey = action === 'PutItem' ? action : input;
    const body =
      bodies.get(cacheKey) ?? Buffer.from(JSON.stringify(actions[action]?.(JSON.parse(input)) ?? {}));
    bodies.set(cacheKey, body);
    if (database.delayMilliseconds > 0) await setTimeout(database.delayMilliseconds);
    response.writeHead(200, { ...headers, 'Content-Length': body.length }).end(body);
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

function actionsWith(apiKeyRecord: Record<string, AttributeValue>): Actions {
  return {
    Query({ Limit, ExpressionAttributeNames, ProjectionExpression }) {
      const names = ProjectionExpression?.split(',').map(
        (name: string) => ExpressionAttributeNames[name.trim()],
      );
      const Items = Array.from({ length: Limit }, (_, index) => {
        const attributes = Object.entries(itemAt(index));
        return Object.fromEntries(attributes.filter(([name]) => !names || names.includes(name)));
      });
      const LastEvaluatedKey = { id: Items.at(-1)!['id'], list: { S: 'all' } };
      return { Count: Limit, Items, LastEvaluatedKey, ScannedCount: Limit };
    },
    GetItem({ Key }) {
      if (Key.hash) return Key.hash.S === apiKeyRecord['hash']!.S ? { Item: apiKeyRecord } : {};
      // Priming requests the id 0, which no item has.
      return Key.id?.N === '0' ? {} : { Item: itemAt(0) };
    },
  };
}

/** Returns the id of the item `index` in the list. The newest item has the index 0. */
export function itemId(index: number): string {
  return (244_813_135_872_000 - index * 64).toString();
}

/** Returns a stored item of the first collection, including the attributes that responses omit. */
function itemAt(index: number): Record<string, AttributeValue> {
  const [collection] = collections;
  const newItem = collectionTests[collection.plural].newItem('Rex');
  return marshall({
    id: BigInt(itemId(index)),
    ...newItem,
    creation: '6f1ed002-ab5c-4f2e-9f38-08f7a5c0a4ce',
    ...indexKeys(listIndexes(collection), newItem),
  });
}
