import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import dynalite from 'dynalite';
import { databaseEnvironment } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { addIndexKeys, copyMissing, copyMissingKeys, paceOf } from '../../infra/operate/copy-items.ts';
import { newApiKey } from '../../shared/api-keys.ts';
import { listIndexes } from '../../shared/contract/lists.ts';
import { books } from '../support/books.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { done, errorOutput } from '../support/run-command.ts';
import { runInProcess } from './in-process.ts';

const { origin: endpoint, close } = await listenOnLoopback(dynalite({ createTableMs: 0 }));
const client = new DynamoDBClient({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});
const database = DynamoDBDocumentClient.from(client, { unmarshallOptions: { wrapNumbers: BigInt } });
afterAll(async () => {
  client.destroy();
  await close();
});

const caller = 'arn:aws:iam::123456789012:user/ada';
const recordFor = (owner: string): any => newApiKey('staging', { owner, caller }).record;

type Item = Record<string, unknown>;

let tables = 0;
/** Creates a table with items, whose key is a text for API keys and an integer otherwise. Returns the table's name. */
async function tableWith(items: Item[], key = 'id'): Promise<string> {
  const TableName = `table-${(tables += 1)}`;
  const AttributeType = key === 'id' ? 'N' : 'S';
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: key, AttributeType }],
      KeySchema: [{ AttributeName: key, KeyType: 'HASH' }],
    }),
  );
  for (const Item of items) await database.send(new PutCommand({ TableName, Item }));
  return TableName;
}

async function itemsIn(TableName: string, key = 'id'): Promise<any[]> {
  const { Items = [] } = await database.send(new ScanCommand({ TableName }));
  return Items.toSorted((one, other) => (one[key] < other[key] ? -1 : 1));
}

/** Returns what a copy needs, and the numbers of items that it has read and written. */
function newRun() {
  const counts = { read: 0, written: 0 };
  const count = (read: number, written: number) => {
    counts.read += read;
    counts.written += written;
  };
  return { run: { database, pace: async () => {}, count }, counts };
}

const indexes = listIndexes(books);
const book = (id: number, title = `book ${id}`) => ({ id: BigInt(id), title, shelf: 7n, list: 'all' });

describe('a copy of items', () => {
  test('contains all that the table lacked, and replaces nothing', async () => {
    const lost = Array.from({ length: 12 }, (_, index) => book(index + 1));
    const from = await tableWith(lost);
    const to = await tableWith([book(3, 'a newer title'), book(1_000)]);
    const { run, counts } = newRun();
    await copyMissing(run, from, to, 'id', indexes);
    expect(await itemsIn(to)).toEqual([...lost.with(2, book(3, 'a newer title')), book(1_000)]);
    expect(counts).toEqual({ read: 12, written: 11 });

    const again = newRun();
    await copyMissing(again.run, from, to, 'id', indexes);
    expect(again.counts).toEqual({ read: 12, written: 0 });
  });

  test('never replaces an item that a client stores meanwhile', async () => {
    const [from, to] = [await tableWith([book(1)]), await tableWith([])];
    const { run, counts } = newRun();
    const pace = async () =>
      void (await database.send(new PutCommand({ TableName: to, Item: book(1, 'a client') })));
    await copyMissing({ ...run, pace }, from, to, 'id', indexes);
    expect(await itemsIn(to)).toEqual([book(1, 'a client')]);
    expect(counts.written).toBe(0);
  });

  test('has the keys of indexes that are newer than the restore point', async () => {
    const from = await tableWith([{ ...book(1), genre: 'crime' }, book(2)]);
    const to = await tableWith([]);
    await copyMissing(newRun().run, from, to, 'id', indexes);
    expect(await itemsIn(to)).toEqual([
      { ...book(1), genre: 'crime', 'genre-and-shelf': 'crime#7' },
      book(2),
    ]);
  });
});

test('new keys of indexes are added to the items that need them, and to no others', async () => {
  const crime = { ...book(1), genre: 'crime' };
  const complete = { ...crime, id: 3n, 'genre-and-shelf': 'crime#7' };
  const table = await tableWith([crime, book(2), complete]);
  const { run, counts } = newRun();
  await addIndexKeys(run, table, 'id', indexes);
  expect(await itemsIn(table)).toEqual([{ ...crime, 'genre-and-shelf': 'crime#7' }, book(2), complete]);
  expect(counts).toEqual({ read: 3, written: 1 });
});

describe('a copy of API keys', () => {
  test('contains the listed keys only as revoked, also if their records are active', async () => {
    const [active, revoked, present, revokedBefore] = ['a', 'b', 'c', 'd'].map(recordFor);
    const revokedAt = '2026-01-01T00:00:00.000Z';
    const from = await tableWith([active, revoked, present, { ...revokedBefore, revokedAt }], 'hash');
    const to = await tableWith([present], 'hash');
    const ids = new Set([revoked, present, revokedBefore].map(({ keyId }) => keyId));
    await copyMissingKeys(newRun().run, from, to, ids, caller);
    const stored = new Map((await itemsIn(to, 'hash')).map((record) => [record.owner, record]));
    expect(stored.get('a')).toEqual(active);
    for (const owner of ['b', 'c'])
      expect(stored.get(owner)).toMatchObject({ revokedBy: { caller, action: 'revoke' } });
    expect(stored.get('d').revokedAt).toBe(revokedAt);
  });

  test('contains a key that was rotated since then only as revoked', async () => {
    const old = recordFor('old');
    const successor = { ...recordFor('new'), replaces: old.keyId };
    // The successor can have been revoked meanwhile.
    for (const state of [{}, { revokedAt: '2026-01-01T00:00:00.000Z' }]) {
      const from = await tableWith([old], 'hash');
      const to = await tableWith([{ ...successor, ...state }], 'hash');
      await copyMissingKeys(newRun().run, from, to, new Set(), caller);
      const copy = (await itemsIn(to, 'hash')).find(({ owner }) => owner === 'old');
      expect(copy).toMatchObject({ revokedBy: { caller, action: 'revoke' } });
    }
  });

  test('revokes a present key that a later restore point shows as revoked', async () => {
    const key = recordFor('late');
    const from = await tableWith([{ ...key, revokedAt: '2026-01-01T00:00:00.000Z' }], 'hash');
    const to = await tableWith([key], 'hash');
    const { run, counts } = newRun();
    // The second copy finds the key revoked.
    for (const _ of [1, 2]) await copyMissingKeys(run, from, to, new Set(), caller);
    expect(await itemsIn(to, 'hash')).toMatchObject([{ revokedBy: { caller, action: 'revoke' } }]);
    expect(counts).toEqual({ read: 2, written: 1 });
  });

  test('keeps a key active whose rotation was interrupted, also when it is repeated', async () => {
    const old = recordFor('old');
    const successor = { ...recordFor('new'), replaces: old.keyId };
    const from = await tableWith([old, successor], 'hash');
    // The first copy ended after the successor.
    const to = await tableWith([successor], 'hash');
    await copyMissingKeys(newRun().run, from, to, new Set(), caller);
    expect(await itemsIn(to, 'hash')).toEqual(expect.arrayContaining([old]));
  });

  test('does not start if the table lacks a listed key', async () => {
    const [from, to] = [await tableWith([recordFor('a')], 'hash'), await tableWith([], 'hash')];
    const copying = copyMissingKeys(newRun().run, from, to, new Set(['key_0123']), caller);
    await expect(copying).rejects.toThrow(`${from} contains no key key_0123. Correct the id`);
    expect(await itemsIn(to, 'hash')).toEqual([]);
  });
});

test('writes start at most as often as the limit allows, also after a pause', async () => {
  jest.useFakeTimers();
  const pace = paceOf(50);
  const starts: number[] = [];
  const write = () => pace().then(() => starts.push(performance.now() - start));
  const start = performance.now();
  for (let count = 0; count < 3; count += 1) void write();
  await jest.advanceTimersByTimeAsync(1_000);
  void write();
  void write();
  await jest.advanceTimersByTimeAsync(1_000);
  jest.useRealTimers();
  expect(starts).toEqual([0, 20, 40, 1_000, 1_020]);
});

describe('npm run restore', () => {
  const environment = databaseEnvironment(endpoint, 'test');
  const restore = (...words: string[]) => runInProcess('infra/operate/restore.ts', words, { environment });

  test('copies the items of a collection', async () => {
    const from = await tableWith([book(1), book(2)]);
    const to = await tableWith([book(2)]);
    expect(done(await restore('--from', from, '--to', to))).toBe('2 items read, 1 copied. Finished.\n');
    expect(await itemsIn(to)).toHaveLength(2);
  });

  test('copies API keys only with the list of those that were revoked', async () => {
    const [from, to] = [await tableWith([recordFor('a')], 'hash'), await tableWith([], 'hash')];
    for (const revoked of [[], ['--revoked', 'all']])
      expect(errorOutput(await restore('--from', from, '--to', to, ...revoked))).toMatch(
        / Set --revoked to /,
      );
    expect(await itemsIn(to, 'hash')).toEqual([]);
  });

  test('rejects a collection that does not exist, and a pace of nothing', async () => {
    const items = await tableWith([]);
    for (const option of ['--collection', '--writes-per-second'])
      expect(errorOutput(await restore('--from', items, '--to', items, option, '0'))).toMatch(
        `${option} must be `,
      );
  });

  test('rejects tables that cannot be meant', async () => {
    const [items, keys] = [await tableWith([]), await tableWith([], 'hash')];
    const messages = [
      await restore('--from', items),
      await restore('--from', items, '--to', keys),
      await restore('--from', keys, '--to', keys, '--revoked', 'none'),
    ].map(errorOutput);
    expect(errorOutput(await restore('--from', 'gone', '--to', items))).toContain('resource not found');
    expect(messages).toEqual([
      'Set --from and --to to the names of tables.',
      `The items of ${items} have the key id, but those of ${keys} have hash.`,
      'For API keys, --from and --to must differ.',
    ]);
  });
});
