import { CreateTableCommand, DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, expect, test } from '@jest/globals';
import dynalite from 'dynalite';
import { readFileSync } from 'node:fs';
import { indexKeys } from '../../shared/storage/pets.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { done, runModule } from '../support/run-command.ts';
import { type NewItem, requiredInput } from '../support/sample.ts';

const runbook = readFileSync('docs/runbook.md', 'utf8');
const scripts = runbook.matchAll(/node --input-type=module <<'END'\n([\s\S]*?)^END$/gm);
const [restore = '', addKeys = ''] = Array.from(scripts, ([, script]) => script!);

const { origin: endpoint, close } = await listenOnLoopback(dynalite({ createTableMs: 0 }));
afterAll(close);
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });

async function createTable(TableName: string, items: Record<string, unknown>[]): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  for (const item of items) await client.send(new PutItemCommand({ TableName, Item: marshall(item) }));
}

async function itemsIn(TableName: string): Promise<any[]> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  return Items.map((item) => unmarshall(item, { wrapNumbers: BigInt })).toSorted((a, b) =>
    a['id'] < b['id'] ? -1 : 1,
  );
}

/** Returns the last line that a script of the runbook prints. */
async function run(script: string, environment: Record<string, string>): Promise<string | undefined> {
  const outcome = await runModule('--input-type=module', ['--eval', script], {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...environment,
  });
  return done(outcome).trimEnd().split('\n').at(-1);
}

test('the restore script in the runbook copies only missing items', async () => {
  const lost = { id: 1n, text: 'lost', integer: 2n ** 63n - 1n };
  await createTable('restored', [lost, { id: 2n, text: 'as it was' }]);
  await createTable('items', [{ id: 2n, text: 'as it is' }, { id: 3n }]);
  const tables = { SOURCE: 'restored', TARGET: 'items', KEY: 'id' };
  expect(await run(restore, tables)).toBe('{ copied: 1, present: 1 }');
  expect(await run(restore, tables)).toBe('{ copied: 0, present: 2 }');
  expect(await itemsIn('items')).toEqual([lost, { id: 2n, text: 'as it is' }, { id: 3n }]);
});

/** Returns an item in list partition 1 with the keys of all indexes, as the service stores it. */
function itemWith(id: bigint, others: Partial<NewItem> = {}): Record<string, unknown> {
  const item = { ...requiredInput, id, ...others };
  return { creation: 'request', ...indexKeys(item, '1'), ...item };
}

test('the script in the runbook that fills an index adds missing keys and changes nothing else', async () => {
  const sold = { status: 'sold', statusPartition: 'sold#1' } as const;
  const items = [itemWith(1n), itemWith(2n, sold), itemWith(3n, sold)];
  const { statusPartition: _missing, ...incomplete } = items[1]!;
  await createTable('filled', items.with(1, incomplete));
  expect(await run(addKeys, { TABLE: 'filled' })).toBe('3 read, 1 changed');
  expect(await run(addKeys, { TABLE: 'filled' })).toBe('3 read, 0 changed');
  expect(await itemsIn('filled')).toEqual(items);
});
