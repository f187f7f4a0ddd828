import { CreateTableCommand, DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, expect, test } from '@jest/globals';
import dynalite from 'dynalite';
import { readFileSync } from 'node:fs';
import { listenOnLoopback } from '../support/loopback.ts';
import { done, runModule } from '../support/run-command.ts';

const runbook = readFileSync('docs/runbook.md', 'utf8');
const [, script = ''] = /node --input-type=module <<'END'\n([\s\S]*?)^END$/m.exec(runbook)!;

const { origin: endpoint, close } = await listenOnLoopback(dynalite({ createTableMs: 0 }));
afterAll(close);

/** Creates a table of items. The keys of `items` are ids, and its values are texts. */
async function createTable(
  client: DynamoDBClient,
  TableName: string,
  items: Record<string, string>,
): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  for (const [id, text] of Object.entries(items)) {
    const Item = { id: { N: id }, text: { S: text }, integer: { N: '9223372036854775807' } };
    await client.send(new PutItemCommand({ TableName, Item }));
  }
}

test('the restore script in the runbook copies only missing items', async () => {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
  const run = async () =>
    done(
      await runModule('--input-type=module', ['--eval', script], {
        AWS_ENDPOINT_URL_DYNAMODB: endpoint,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        SOURCE: 'restored',
        TARGET: 'items',
        KEY: 'id',
      }),
    );

  await createTable(client, 'restored', { 1: 'lost', 2: 'as it was' });
  await createTable(client, 'items', { 2: 'as it is', 3: 'new' });
  expect([await run(), await run()]).toEqual(['{ copied: 1, present: 1 }\n', '{ copied: 0, present: 2 }\n']);
  const { Items = [] } = await client.send(new ScanCommand({ TableName: 'items' }));
  const items = Items.map(({ id, text, integer }) => [id?.N, text?.S, integer?.N].join(' '));
  expect(items.toSorted()).toEqual([
    '1 lost 9223372036854775807',
    '2 as it is 9223372036854775807',
    '3 new 9223372036854775807',
  ]);
});
