import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { AbstractLevel, AbstractValueIterator } from 'abstract-level';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { operatorAccessKeyId, startDatabase } from '../../../../infra/local/emulator/dynamodb/dynamodb.ts';
import { type OpenStore, openStore } from '../../../../infra/local/emulator/dynamodb/store.ts';
import { readPermissions } from '../../../../infra/local/emulator/template/permissions.ts';
import { lambdaFunction, policy, role, type SampleResource, table, templateOf } from '../sample-resources.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folders = temporaryFolder();

async function startWith(definition: SampleResource, store?: OpenStore) {
  const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Books';
  const template = templateOf({
    Books: definition,
    Role: role,
    ListBooks: lambdaFunction('list-books'),
    Read: policy(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:BatchGetItem'], tableArn),
    OtherRole: role,
    Other: policy('dynamodb:DeleteItem', '*', 'OtherRole'),
    List: policy('dynamodb:Query', `${tableArn}/index/by-author`),
  });
  const tables = template.resources('AWS::DynamoDB::GlobalTable');
  return startDatabase(store ?? (await openStore()), tables, readPermissions(template));
}

const database = await startWith(table('id', 'author'));
afterAll(() => database.close());

function headersOf(caller: string, action: string): Record<string, string> {
  return {
    'Content-Type': 'application/x-amz-json-1.0',
    'X-Amz-Target': `DynamoDB_20120810.${action}`,
    'X-Amz-Date': new Date().toISOString(),
    Authorization: `AWS4-HMAC-SHA256 Credential=${caller}/local, SignedHeaders=host, Signature=none`,
  };
}

async function call(caller: string, action: string, input: object, to = database): Promise<any> {
  const body = JSON.stringify({ TableName: 'Books', ...input });
  const response = await fetch(to.endpoint, { method: 'POST', headers: headersOf(caller, action), body });
  return { status: response.status, ...((await response.json()) as object) };
}

async function booksIn(input: { IndexName?: string }, of = database): Promise<unknown> {
  return (await call(operatorAccessKeyId, 'Scan', input, of)).Items;
}

const onIndex = { IndexName: 'by-author' };
const book = { id: { S: '5' }, author: { S: 'Austen' } };
const batchRead = { RequestItems: { Books: { Keys: [] }, ApiKeys: { Keys: [] } } };

describe('a book in the database', () => {
  test('is stored and deleted in the table and in the index', async () => {
    await call(operatorAccessKeyId, 'PutItem', { Item: book });
    expect([await booksIn({}), await booksIn(onIndex)]).toEqual([[book], [book]]);
    await call(operatorAccessKeyId, 'DeleteItem', { Key: { id: book.id } });
    expect([await booksIn({}), await booksIn(onIndex)]).toEqual([[], []]);
  });

  test('is not overwritten if a condition of the write forbids it', async () => {
    const put = { Item: book, ConditionExpression: 'attribute_not_exists(id)' };
    expect(await call(operatorAccessKeyId, 'PutItem', put)).toEqual({ status: 200 });
    const retry = { ...put, Item: { ...book, author: { S: 'Brontë' } } };
    const failure = await call(operatorAccessKeyId, 'PutItem', retry);
    expect(failure).toMatchObject({ status: 400, __type: expect.stringContaining('ConditionalCheckFailed') });
    expect(await booksIn({})).toEqual([book]);
  });

  test('does not appear in the index before it appears in the table', async () => {
    const put = Reflect.get(AbstractLevel.prototype, 'put') as () => Promise<void>;
    const spy = jest.spyOn(AbstractLevel.prototype, 'put');
    // dynalite reads the `put` method only when it starts, so this test starts a new database.
    const spied = await startWith(table('id', 'author'));
    const held = Promise.withResolvers<void>();
    const interrupted = new Promise<void>((resolve) => {
      spy.mockImplementation(function (this: unknown, ...parameters: unknown[]) {
        if (!String(parameters[0]).startsWith('item-')) return Reflect.apply(put, this, parameters);
        resolve();
        return held.promise;
      });
    });
    const write = call(operatorAccessKeyId, 'PutItem', { Item: book }, spied);
    await Promise.race([interrupted, write]);
    const [listed, stored] = [await booksIn(onIndex, spied), await booksIn({}, spied)];
    held.resolve();
    await write;
    spy.mockRestore();
    await spied.close();
    expect(listed).toEqual(stored);
  });
});

describe('a folder with tables', () => {
  test('is rejected if the keys or indexes of a stored table differ from the template', async () => {
    const store = await openStore(mkdtempSync(join(folders, 'data-')));
    await (await startWith(table('id', 'author'), store)).close();
    for (const other of [table('title', 'author'), table('id'), table('id', 'title')]) {
      await expect(startWith(other, store)).rejects.toMatchObject({
        message: expect.stringContaining('stored table Books differ'),
      });
    }
    await (await startWith(table('id', 'author'), store)).close();
    await store.close();
  });
});

describe('a caller of the database', () => {
  test('gets a 400 if its request body is not JSON', async () => {
    for (const body of ['null', 'not json', '']) {
      const init = { method: 'POST', headers: headersOf(operatorAccessKeyId, 'GetItem'), body };
      expect((await fetch(database.endpoint, init)).status).toBe(400);
    }
  });

  test('can perform the actions that its role permits, and a query closes its iterator', async () => {
    const closed = jest.spyOn(AbstractValueIterator.prototype as any, 'return');
    expect(await call('ListBooks', 'PutItem', { Item: book })).toEqual({ status: 200 });
    const query = {
      ...onIndex,
      KeyConditionExpression: 'author = :author',
      ExpressionAttributeValues: { ':author': book.author },
      Limit: 1,
    };
    expect(await call('ListBooks', 'Query', query)).toMatchObject({ status: 200, Items: [book] });
    expect(closed).toHaveBeenCalledTimes(1);
    closed.mockRestore();
  });

  test('is denied what its role does not permit', async () => {
    const calls: Record<string, Parameters<typeof call>> = {
      'another action': ['ListBooks', 'UpdateItem', { Key: { id: book.id } }],
      'an action of another role': ['ListBooks', 'DeleteItem', { Key: { id: book.id } }],
      'the table if only its index is permitted': ['ListBooks', 'Query', {}],
      'the index if only its table is permitted': ['ListBooks', 'GetItem', onIndex],
      'another table': ['ListBooks', 'GetItem', { TableName: 'ApiKeys' }],
      'another table in a batch': ['ListBooks', 'BatchGetItem', batchRead],
      'any action if it has no role': ['Nobody', 'GetItem', {}],
    };
    const denied = { status: 400, __type: 'com.amazon.coral.service#AccessDeniedException' };
    for (const [what, parameters] of Object.entries(calls))
      expect({ what, ...(await call(...parameters)) }).toMatchObject({ what, ...denied });
  });

  test('does not affect other callers if it disconnects during a request', async () => {
    const { hostname, port, pathname } = new URL(database.endpoint);
    const headers = { ...headersOf(operatorAccessKeyId, 'PutItem'), Host: hostname, 'Content-Length': '99' };
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(Number(port), hostname);
    const head = `POST ${pathname} HTTP/1.1\r\n${fields.join('')}`;
    socket.write(`${head}\r\n{"Tab`, () => socket.resetAndDestroy());
    await once(socket, 'close');
    expect(await call('ListBooks', 'GetItem', { Key: { id: book.id } })).toMatchObject({ Item: book });
  });
});
