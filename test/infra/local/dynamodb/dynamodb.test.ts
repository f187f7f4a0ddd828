import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { AbstractLevel, AbstractValueIterator } from 'abstract-level';
import { once } from 'node:events';
import { connect } from 'node:net';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Database,
  operatorAccessKeyId,
  startDatabase,
} from '../../../../infra/local/dynamodb/dynamodb.ts';
import { openStore } from '../../../../infra/local/dynamodb/store.ts';
import { readPermissions } from '../../../../infra/local/template/permissions.ts';
import {
  lambdaFunction,
  policy,
  role,
  type SampleResource,
  table,
  templateOf,
} from '../../../support/sample-resources.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folders = temporaryFolder();
const started: Database[] = [];

async function startWith(pets: SampleResource, folder?: string): Promise<Database> {
  const petsArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Pets';
  const template = templateOf({
    Pets: pets,
    Role: role,
    Function: lambdaFunction('asset'),
    Read: policy(['dynamodb:GetItem', 'dynamodb:PutItem'], petsArn),
    OtherRole: role,
    Other: policy('dynamodb:DeleteItem', '*', 'OtherRole'),
    List: policy('dynamodb:Query', `${petsArn}/index/by-index-key`),
  });
  const database = await startDatabase({
    store: await openStore(folder),
    tables: template.resources('AWS::DynamoDB::GlobalTable'),
    isAllowed: readPermissions(template),
  });
  started.push(database);
  return database;
}

afterEach(async () => {
  for (const database of started.splice(0)) await database.close();
});

function headersOf(caller: string, action: string): Record<string, string> {
  return {
    'Content-Type': 'application/x-amz-json-1.0',
    'X-Amz-Target': `DynamoDB_20120810.${action}`,
    'X-Amz-Date': new Date().toISOString(),
    Authorization: `AWS4-HMAC-SHA256 Credential=${caller}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none`,
  };
}

async function call({ endpoint }: Database, caller: string, action: string, input: object): Promise<any> {
  const body = JSON.stringify({ TableName: 'Pets', ...input });
  const response = await fetch(endpoint, { method: 'POST', headers: headersOf(caller, action), body });
  return { status: response.status, ...((await response.json()) as object) };
}

const rex = { id: { S: 'rex' }, kind: { S: 'dog' } };

describe('the tables of the template', () => {
  test('are created with their keys and indexes', async () => {
    const database = await startWith(table('id', 'kind'));
    const { Table } = await call(database, operatorAccessKeyId, 'DescribeTable', {});
    expect(Table).toMatchObject({
      TableName: 'Pets',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [
        { IndexName: 'by-index-key', KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }] },
      ],
    });
  });
});

describe('an item with an entry in an index', () => {
  test('is deleted from both, and deleting it again changes nothing', async () => {
    const database = await startWith(table('id', 'kind'));
    const remove = () => call(database, operatorAccessKeyId, 'DeleteItem', { Key: { id: { S: 'rex' } } });
    await call(database, operatorAccessKeyId, 'PutItem', { Item: rex });
    expect((await remove()).status).toBe(200);
    expect((await remove()).status).toBe(200);
    for (const input of [{}, { IndexName: 'by-index-key' }]) {
      expect(await call(database, operatorAccessKeyId, 'Scan', input)).toMatchObject({ Items: [] });
    }
  });

  test('is in both or in neither, wherever its write is interrupted', async () => {
    const realPut = Reflect.get(AbstractLevel.prototype, 'put') as (
      key: string,
      value: unknown,
    ) => Promise<void>;
    const put = jest.spyOn(AbstractLevel.prototype, 'put');
    const database = await startWith(table('id', 'kind'));
    const held: (() => void)[] = [];
    const ended = new Promise<void>((resolve) => {
      put.mockImplementation(function (this: unknown, key: string, value: unknown) {
        if (!key.startsWith('item-')) return realPut.call(this, key, value);
        resolve();
        return new Promise<void>((done) => held.push(done));
      } as typeof AbstractLevel.prototype.put);
    });
    const answer = call(database, operatorAccessKeyId, 'PutItem', { Item: rex });
    await Promise.race([ended, answer]);
    const { Items: listed } = await call(database, operatorAccessKeyId, 'Scan', {
      IndexName: 'by-index-key',
    });
    const { Items: stored } = await call(database, operatorAccessKeyId, 'Scan', {});
    expect(listed).toEqual(stored);
    for (const goOn of held) goOn();
    await answer;
    put.mockRestore();
  });
});

describe('a folder of tables', () => {
  test('is opened once when two services start at the same time', async () => {
    const folder = mkdtempSync(join(folders, 'data-'));
    const starting = [openStore(folder), openStore(folder)];
    const rejected = (await Promise.allSettled(starting)).filter(({ status }) => status === 'rejected');
    const message = expect.stringContaining(`The data in ${folder} is in use by another local service`);
    expect(rejected).toMatchObject([{ reason: { name: 'UsageError', message } }]);
    await (await Promise.any(starting)).close();
    await (await openStore(folder)).close();
  });

  test('that is a file is rejected', async () => {
    const file = join(folders, 'file');
    writeFileSync(file, '');
    await expect(openStore(file)).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(`The data in ${file} cannot be opened`),
    });
  });
});

describe('a caller of the database', () => {
  test('that signs in the query string is rejected, because it cannot be identified', async () => {
    const database = await startWith(table('id', 'kind'));
    const { Authorization, ...headers } = headersOf('Function', 'ListTables');
    const query =
      'X-Amz-Algorithm=a&X-Amz-Credential=operator/b&X-Amz-Signature=c&X-Amz-SignedHeaders=d&X-Amz-Date=e';
    const response = await fetch(`${database.endpoint}/?${query}`, { method: 'POST', headers, body: '{}' });
    expect([Authorization, response.status]).toEqual([expect.any(String), 400]);
    expect(await response.json()).toMatchObject({ __type: expect.stringContaining('AccessDenied') });
  });

  test('that does not send JSON is rejected, and others are served', async () => {
    const database = await startWith(table('id', 'kind'));
    for (const body of ['not json', 'null', '5', '']) {
      const init = { method: 'POST', headers: headersOf('Function', 'GetItem'), body };
      expect((await fetch(database.endpoint, init)).status).toBe(400);
    }
    expect(await call(database, 'Function', 'PutItem', { Item: rex })).toEqual({ status: 200 });
  });

  test('may do what its role permits, and a list does not leak its iterator', async () => {
    const closed = jest.spyOn(AbstractValueIterator.prototype, 'close');
    const database = await startWith(table('id', 'kind'));
    expect(await call(database, 'Function', 'PutItem', { Item: rex })).toEqual({ status: 200 });
    const query = {
      IndexName: 'by-index-key',
      KeyConditionExpression: 'kind = :kind',
      ExpressionAttributeValues: { ':kind': rex.kind },
      Limit: 1,
    };
    expect(await call(database, 'Function', 'Query', query)).toMatchObject({ status: 200, Items: [rex] });
    expect(closed).toHaveBeenCalledTimes(1);
    closed.mockRestore();
  });

  test.each([
    ['an action that its role does not permit', 'Function', 'UpdateItem', { Key: { id: rex.id } }],
    ['an action that only another role permits', 'Function', 'DeleteItem', { Key: { id: rex.id } }],
    ['an action permitted on the index, on the table', 'Function', 'Query', {}],
    ['an action permitted on the table, on the index', 'Function', 'GetItem', { IndexName: 'by-index-key' }],
    ['a permitted action on another table', 'Function', 'GetItem', { TableName: 'ApiKeys' }],
    ['everything if it is unknown', 'Nobody', 'GetItem', {}],
  ])('is denied %s', async (_name, caller, action, input) => {
    const database = await startWith(table('id', 'kind'));
    expect(await call(database, caller, action, input)).toEqual({
      status: 400,
      __type: 'com.amazon.coral.service#AccessDeniedException',
      Message: expect.stringContaining(`${caller} is not authorized to perform dynamodb:${action} on arn:`),
    });
  });

  test('that disconnects in the middle of its request does not affect others', async () => {
    const database = await startWith(table('id', 'kind'));
    const { hostname, port } = new URL(database.endpoint);
    const socket = connect(Number(port), hostname);
    const head = Object.entries({
      Host: hostname,
      ...headersOf('Function', 'PutItem'),
      'Content-Length': 1000,
    });
    socket.write(
      `POST / HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n{"Tab`,
      () => socket.resetAndDestroy(),
    );
    await once(socket, 'close');
    expect(await call(database, 'Function', 'PutItem', { Item: rex })).toEqual({ status: 200 });
    expect(await call(database, 'Function', 'GetItem', { Key: { id: rex.id } })).toMatchObject({ Item: rex });
  });
});
