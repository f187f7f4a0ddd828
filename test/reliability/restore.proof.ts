import { CreateTableCommand, DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, describe, expect, test } from '@jest/globals';
import dynalite from 'dynalite';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { databaseEnvironment } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { done, errorOutput, type RunningModule, startModule } from '../support/run-command.ts';
import { petWithoutStatus } from '../support/sample.ts';

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

async function petsIn(TableName: string, key = 'id'): Promise<any[]> {
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
    const lost = { hash: 1n, name: 'Lost', categoryId: 2n ** 63n - 1n };
    await createTable('restored', [lost, { hash: 2n, name: 'As it was' }], 'hash');
    await createTable('pets', [{ hash: 2n, name: 'As it is' }, { hash: 3n }], 'hash');
    const tables = { SOURCE: 'restored', TARGET: 'pets' };
    expect(await run(restore, tables)).toBe('2 of about 0 items read, 1 copied');
    expect(await run(restore, tables)).toBe('2 of about 0 items read, 0 copied');
    expect(await petsIn('pets', 'hash')).toEqual([lost, { hash: 2n, name: 'As it is' }, { hash: 3n }]);
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
    expect(await petsIn('empty')).toEqual(items);
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
    expect(await petsIn('lost')).toEqual([{ id: 1n }]);
  });

  test.each([
    ['is the same table as TARGET', 'empty', 'Set SOURCE and TARGET to the names of different tables.'],
    ['does not exist', 'none', 'Requested resource not found: Table: none not found'],
  ])('prints only one sentence if SOURCE %s', async (_case, SOURCE, message) => {
    expect(errorOutput(await start(restore, { SOURCE, TARGET: 'empty' }).ended)).toBe(message);
  });
});

/** Returns a pet as the service stores it in list partition 1. The keys of other indexes are in `others`. */
function storedPet(id: bigint, others: Record<string, string> = {}): Record<string, unknown> {
  return { creation: 'request', partition: '1', ...petWithoutStatus, id, ...others };
}

test('the script that fills an index adds missing keys and changes nothing else', async () => {
  const sold = { status: 'sold', statusPartition: 'sold#1' };
  const pets = [storedPet(1n), storedPet(2n, sold), storedPet(3n, sold)];
  await createTable('filled', pets.with(1, storedPet(2n, { status: 'sold' })));
  expect(await run(addKeys, { TABLE: 'filled' })).toBe('3 read, 1 changed');
  expect(await run(addKeys, { TABLE: 'filled' })).toBe('3 read, 0 changed');
  expect(await petsIn('filled')).toEqual(pets);
});
