import { CreateTableCommand, DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, describe, expect, test } from '@jest/globals';
import dynalite from 'dynalite';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { databaseEnvironment } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { collectionTests } from '../collections/all.ts';
import { type NewItem, variantOf } from '../support/collection-tests.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { done, errorOutput, type RunningModule, startModule } from '../support/run-command.ts';

const restore = 'docs/runbook/copy-missing-items.ts';
const addKeys = 'docs/runbook/add-index-keys.ts';

let writes = 0;
const server = dynalite({ createTableMs: 0 }).on('request', ({ headers }: IncomingMessage) => {
  const isResumed = headers.authorization?.includes('Credential=resumed/');
  if (isResumed && String(headers['x-amz-target']).endsWith('.PutItem')) writes += 1;
});
const { origin: endpoint, close } = await listenOnLoopback(server);
afterAll(close);
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });

async function createTable(TableName: string, items: Record<string, unknown>[], key = 'id'): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: key, AttributeType: 'N' }],
      KeySchema: [{ AttributeName: key, KeyType: 'HASH' }],
    }),
  );
  const puts = items.map((item) => new PutItemCommand({ TableName, Item: marshall(item) }));
  await Promise.all(puts.map((put) => client.send(put)));
}

async function itemsIn(TableName: string, key = 'id'): Promise<any[]> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  const items = Items.map((item) => unmarshall(item, { wrapNumbers: BigInt }));
  return items.toSorted((one, other) => (one[key] < other[key] ? -1 : 1));
}

function start(script: string, environment: Record<string, string>): RunningModule {
  return startModule(script, [], { ...databaseEnvironment(endpoint, 'test'), ...environment });
}

/** Runs a script. Returns the last line that the script prints. */
async function run(script: string, environment: Record<string, string>): Promise<string | undefined> {
  const output = done(await start(script, environment).ended);
  return output.trimEnd().split('\n').at(-1);
}

await createTable('empty', []);

describe('the script that copies missing items', () => {
  // The partition key has the name `hash`, a reserved word in DynamoDB, so the script must use a placeholder.
  test('copies only missing items', async () => {
    const lost = { hash: 1n, title: 'Lost', shelf: 2n ** 63n - 1n };
    await createTable('restored', [lost, { hash: 2n, title: 'As it was' }], 'hash');
    await createTable('current', [{ hash: 2n, title: 'As it is' }, { hash: 3n }], 'hash');
    const tables = { SOURCE: 'restored', TARGET: 'current' };
    expect(await run(restore, tables)).toBe('2 of about 0 items read, 1 copied');
    expect(await run(restore, tables)).toBe('2 of about 0 items read, 0 copied');
    expect(await itemsIn('current', 'hash')).toEqual([lost, { hash: 2n, title: 'As it is' }, { hash: 3n }]);
  });

  test('copies only the remaining items after an interruption', async () => {
    const items = Array.from({ length: 2_000 }, (_, index) => ({ id: BigInt(index) }));
    await createTable('many', items);
    const tables = { SOURCE: 'many', TARGET: 'empty' };
    const { process: child, ended } = start(restore, tables);
    await once(child.stdout!, 'data');
    child.kill('SIGKILL');
    const read = Number(/(\d+) of about [^\n]+\n$/.exec((await ended).stdout)![1]);
    const resumed = await run(restore, { ...tables, AWS_ACCESS_KEY_ID: 'resumed' });
    expect(resumed).toMatch(/^2000 of about 0 items read, /);
    expect(writes).toBeGreaterThan(0);
    expect(writes).toBeLessThanOrEqual(items.length - read);
    expect(await itemsIn('empty')).toEqual(items);
  });

  test('copies every item even if responses to scans are empty', async () => {
    await createTable('complete', [{ id: 1n }]);
    await createTable('lost', []);
    let emptyResponses = 8; // one for each segment
    const front = createServer((request, response) => {
      const isScan = String(request.headers['x-amz-target']).endsWith('.Scan');
      if (isScan && emptyResponses-- > 0) response.end();
      else server.emit('request', request, response);
    });
    const faulty = await listenOnLoopback(front);
    const environment = { ...databaseEnvironment(faulty.origin, 'test'), SOURCE: 'complete', TARGET: 'lost' };
    expect(await run(restore, environment)).toBe('1 of about 0 items read, 1 copied');
    await faulty.close();
    expect(await itemsIn('lost')).toEqual([{ id: 1n }]);
  });

  test.each([
    ['is the same table as TARGET', 'empty', 'Set SOURCE and TARGET to the names of different tables.'],
    ['does not exist', 'none', 'Requested resource not found: Table: none not found'],
  ])('prints only one sentence if SOURCE %s', async (_case, SOURCE, message) => {
    expect(errorOutput(await start(restore, { SOURCE, TARGET: 'empty' }).ended)).toBe(message);
  });
});

/** Returns an item as the service stores it in list partition 1. Each of the indexes has the given filters. */
function storedItem(id: number, newItem: NewItem, indexes: string[][] = []): Record<string, unknown> {
  const keys = indexes
    .filter((filters) => filters.every((name) => name in newItem))
    .map((filters) => [
      `${filters.join('-')}Partition`,
      [...filters.map((name) => newItem[name]), 1].join('#'),
    ]);
  return { creation: 'request', partition: '1', ...newItem, id: BigInt(id), ...Object.fromEntries(keys) };
}

test.each(Object.entries(collectionTests))(
  'the script that fills an index adds missing keys to %s and changes nothing else',
  async (COLLECTION, { table, newItem, variants, filters }) => {
    const indexes = filters.map(({ query }) => Object.keys(query));
    const newItems = [{}, {}, ...variants].map((fields) => variantOf(newItem('An item'), fields));
    const items = newItems.map((item, id) => storedItem(id, item, indexes));
    const tables = { COLLECTION, TABLE: table.logicalId };
    await createTable(tables.TABLE, items.with(0, storedItem(0, newItems[0]!)));
    const changed = indexes.length > 0 ? 1 : 0;
    expect(await run(addKeys, tables)).toBe(`${items.length} read, ${changed} changed`);
    expect(await run(addKeys, tables)).toBe(`${items.length} read, 0 changed`);
    expect(await itemsIn(tables.TABLE)).toEqual(items);
  },
);
