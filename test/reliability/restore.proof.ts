import {
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, describe, expect, test } from '@jest/globals';
import dynalite from 'dynalite';
import { execFile } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { databaseEnvironment } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { revokeLostKey } from '../../infra/operate/keys/lifecycle.ts';
import { collectionTests } from '../collections/all.ts';
import { type NewItem, variantOf } from '../support/collection-tests.ts';
import { startFakeAws } from '../infra/operate/fake-aws.ts';
import { passOn } from '../support/fault-proxy.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { blockWith } from '../support/markdown-code.ts';
import {
  commandEnvironment,
  done,
  errorOutput,
  isInstalled,
  outcomeOf,
  type RunningModule,
  startModule,
} from '../support/run-command.ts';

const restore = 'docs/runbook/copy-missing-items.ts';
const addKeys = 'docs/runbook/add-index-keys.ts';

const { origin: endpoint, close } = await listenOnLoopback(dynalite({ createTableMs: 0 }));
afterAll(close);
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });

/**
 * Creates a table with items.
 *
 * @param key name of the partition key, which is a text for API keys and an integer for other items
 * @param indexes names of indexes. The tests do not query the indexes, so each has the table's key.
 */
async function createTable(
  TableName: string,
  items: Record<string, unknown>[],
  key = 'id',
  indexes: string[] = key === 'hash' ? ['by-stage'] : [],
): Promise<void> {
  const KeySchema = [{ AttributeName: key, KeyType: 'HASH' as const }];
  const GlobalSecondaryIndexes = indexes.map((IndexName) => ({
    IndexName,
    KeySchema,
    Projection: { ProjectionType: 'ALL' as const },
  }));
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: key, AttributeType: key === 'hash' ? 'S' : 'N' }],
      KeySchema,
      ...(indexes.length > 0 && { GlobalSecondaryIndexes }),
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

/** Returns the numbers in a line such as `Part 1/2: 1,000 items read, 12 copied. Finished.` */
function countsIn(line = ''): { read: number; written: number } {
  const [, read, written] = /([\d,]+) items read, ([\d,]+) (?:copied|changed)\. Finished\.$/.exec(line)!;
  return { read: Number(read!.replace(',', '')), written: Number(written!.replace(',', '')) };
}

type Reply = Pick<Awaited<ReturnType<typeof passOn>>, 'status' | 'body'>;

/** A request to the database. */
interface Call {
  /** The operation, such as `PutItem`. */
  action: string;
  input: any;
  /** Passes the request on to the database, with another input if it is given. */
  pass: (input?: object) => Promise<Reply>;
}

const closeAll: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(closeAll.map((closeOne) => closeOne())));

/** Starts a proxy of the database. `respond` returns the reply to a request, or undefined if there is no response. */
async function startProxy(respond: (call: Call) => Promise<Reply | undefined>) {
  const calls: Call[] = [];
  const pending = new Set<Promise<unknown>>();
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return; // The script was killed.
    const input = JSON.parse(body);
    async function pass(changed: object = input): Promise<Reply> {
      const passedBody = JSON.stringify(changed);
      request.headers['content-length'] = `${Buffer.byteLength(passedBody)}`;
      const passed = passOn(endpoint, request, passedBody);
      pending.add(passed);
      return passed;
    }
    const call = { action: String(request.headers['x-amz-target']).split('.')[1]!, input, pass };
    calls.push(call);
    const answer = await respond(call);
    if (answer) response.writeHead(answer.status).end(answer.body);
  });
  const proxy = await listenOnLoopback(server);
  closeAll.push(proxy.close);
  return {
    environment: { AWS_ENDPOINT_URL_DYNAMODB: proxy.origin },
    /**
     * Returns the inputs of an operation's requests. A request can occur twice, because the SDK retries if there is no
     * response within 10 s.
     */
    inputsOf: (action: string) => calls.filter((call) => call.action === action).map(({ input }) => input),
    /** Waits until the database has executed all requests that were passed on, even those of a killed script. */
    settled: () => Promise.all(pending),
  };
}

function reply(body: object): Reply {
  return { status: 200, body: Buffer.from(JSON.stringify(body)) };
}

/** Returns an item as the service stores it, or without the key of the index `newest`. */
function storedItem(id: number, newItem: NewItem, isIndexed = true): Record<string, unknown> {
  return { creation: 'request', ...newItem, id: BigInt(id), ...(isIndexed && { list: 'all' }) };
}

/**
 * Returns a table's items without and with the key of the index `newest`, and the variables of the script that adds this
 * key.
 */
function tableOf(TABLE: string, count: number) {
  const [COLLECTION, { newItem }] = Object.entries(collectionTests)[0]!;
  const item = newItem('An item');
  const ids = Array.from({ length: count }, (_, id) => id);
  return {
    before: ids.map((id) => storedItem(id, item, false)),
    after: ids.map((id) => storedItem(id, item)),
    variables: { COLLECTION, TABLE },
  };
}

/** Returns the record of an API key whose hash and id repeat a digit. */
function keyRecord(digit: string, attributes: object = {}) {
  const ids = { hash: digit.repeat(64), keyId: `key_0195${digit.repeat(16)}` };
  return { ...ids, stage: 'staging', owner: 'Acme', ...attributes };
}

/** Returns the record that the script writes for a key in REVOKED if the operator is Ada. */
function revokedByAda(record: ReturnType<typeof keyRecord>) {
  const time = expect.stringMatching(/^20.*Z$/);
  return {
    ...record,
    revokedAt: time,
    revokedBy: { time, caller: 'Ada', action: 'revoke', keyId: record.keyId },
  };
}

/** Deletes the progress of the scripts, as operators do when all parts are finished. */
function deleteProgress(): void {
  for (const folder of globSync('progress-*')) rmSync(folder, { recursive: true });
}
afterAll(deleteProgress);

await createTable('empty', []);
await createTable('other', []);
await createTable('keys', [{ hash: '1' }], 'hash');
await createTable('no-keys', [], 'hash');

describe('the script that copies missing items', () => {
  // The partition key has the name `token`, a reserved word in DynamoDB, so the script must use a placeholder.
  test('copies only missing items, and writes no others', async () => {
    const lost = { token: 1n, title: 'Lost', shelf: 2n ** 63n - 1n };
    await createTable('restored', [lost, { token: 2n, title: 'As it was' }], 'token');
    await createTable('current', [{ token: 2n, title: 'As it is' }, { token: 3n }], 'token');
    const proxy = await startProxy(({ pass }) => pass());
    const tables = { SOURCE: 'restored', TARGET: 'current', ...proxy.environment };
    expect(await run(restore, tables)).toBe('2 items read, 1 copied. Finished.');
    expect(await run(restore, tables)).toBe('2 items read, 0 copied. Finished.');
    expect(await itemsIn('current', 'token')).toEqual([
      lost,
      { token: 2n, title: 'As it is' },
      { token: 3n },
    ]);
    expect(new Set(proxy.inputsOf('PutItem').map(({ Item }) => Item.token.N))).toEqual(new Set(['1']));
  });

  test('never replaces an item that a client creates meanwhile', async () => {
    await createTable('before', [{ id: 1n, title: 'As it was' }]);
    await createTable('meanwhile', []);
    const created = { id: 1n, title: 'As it is' };
    const proxy = await startProxy(async ({ action, pass }) => {
      if (action === 'PutItem')
        await client.send(new PutItemCommand({ TableName: 'meanwhile', Item: marshall(created) }));
      return pass();
    });
    const tables = { SOURCE: 'before', TARGET: 'meanwhile', ...proxy.environment };
    expect(await run(restore, tables)).toBe('1 items read, 0 copied. Finished.');
    expect(await itemsIn('meanwhile')).toEqual([created]);
  });

  test('looks up again the keys that DynamoDB did not process', async () => {
    const items = Array.from({ length: 300 }, (_, index) => ({ id: BigInt(index) }));
    await createTable('present', items);
    await createTable('throttled', items.slice(1));
    const proxy = await startProxy(async ({ action, input, pass }) => {
      // The first segment contains all items, so that a page has more than 100 items.
      if (action === 'Scan')
        return input.Segment === 0 ? pass({ TableName: input.TableName }) : reply({ Items: [] });
      const { Keys, ...others } = input.RequestItems?.throttled ?? {};
      if (Keys?.length !== 100) return pass();
      const { body } = await pass({ RequestItems: { throttled: { ...others, Keys: Keys.slice(0, 40) } } });
      const { Responses } = JSON.parse(body.toString());
      return reply({ Responses, UnprocessedKeys: { throttled: { ...others, Keys: Keys.slice(40) } } });
    });
    const tables = { SOURCE: 'present', TARGET: 'throttled', ...proxy.environment };
    expect(await run(restore, tables)).toBe('300 items read, 1 copied. Finished.');
    const lookups = proxy.inputsOf('BatchGetItem').map(({ RequestItems }) => RequestItems.throttled.Keys);
    expect(new Set(lookups.map(({ length }) => length))).toEqual(new Set([100, 60]));
    expect(new Set(proxy.inputsOf('PutItem').map(({ Item }) => Item.id.N))).toEqual(new Set(['0']));
  });

  test('copies every item even if the response to a scan is empty', async () => {
    await createTable('complete', [{ id: 1n }]);
    await createTable('lost', []);
    let emptyResponses = 0;
    const proxy = await startProxy(async ({ pass }) => {
      const { status, body } = await pass();
      const isEmpty = body.includes('"Items":[{') && emptyResponses === 0;
      emptyResponses += Number(isEmpty);
      return { status, body: isEmpty ? Buffer.alloc(0) : body };
    });
    const tables = { SOURCE: 'complete', TARGET: 'lost', ...proxy.environment };
    expect(await run(restore, tables)).toBe('1 items read, 1 copied. Finished.');
    expect(emptyResponses).toBe(1);
    expect(await itemsIn('lost')).toEqual([{ id: 1n }]);
  });

  test('copies a part of the items in each of two processes', async () => {
    const items = Array.from({ length: 400 }, (_, index) => ({ id: BigInt(index) }));
    await createTable('whole', items);
    await createTable('parts', []);
    const tables = { SOURCE: 'whole', TARGET: 'parts' };
    const first = await run(restore, { ...tables, PART: '1/2' });
    const copied = (await itemsIn('parts')).length;
    expect(copied).toBeGreaterThan(100);
    expect(copied).toBeLessThan(300);
    expect(first).toBe(`Part 1/2: ${copied} items read, ${copied} copied. Finished.`);
    const again = done(await start(restore, { ...tables, PART: '1/2' }).ended);
    expect(again).toMatch(
      RegExp(
        `^Part 1/2: Continuing after ${copied} items. To read them again, delete the folder progress-copy-\\S+\\.\n`,
      ),
    );
    const rest = 400 - copied;
    expect(await run(restore, { ...tables, PART: '2/2' })).toBe(
      `Part 2/2: ${rest} items read, ${rest} copied. Finished.`,
    );
    expect(await itemsIn('parts')).toEqual(items);
    deleteProgress();
    expect(await run(restore, tables)).toBe('400 items read, 0 copied. Finished.');
  });

  // Neighboring segments can share a partition, whose throughput would limit a parallel scan.
  test('scans several segments at the same time, none of which are neighbors', async () => {
    const waiting: (() => void)[] = [];
    const proxy = await startProxy(async ({ action, pass }) => {
      if (action === 'Scan' && waiting.length < 8) {
        const isReleased = new Promise<void>((resolve) => waiting.push(resolve));
        if (waiting.length === 8) for (const release of waiting) release();
        await isReleased;
      }
      return pass();
    });
    await run(restore, { SOURCE: 'empty', TARGET: 'other', ...proxy.environment });
    const first = proxy.inputsOf('Scan').slice(0, 8);
    const segments = new Set(first.map(({ Segment }) => Segment));
    expect(segments).toEqual(new Set([0, 32, 64, 96, 128, 160, 192, 224]));
  });

  test('copies nothing from an empty table', async () => {
    await createTable('unchanged', [{ id: 1n }]);
    const output = done(await start(restore, { SOURCE: 'empty', TARGET: 'unchanged' }).ended);
    // On a slow machine, the script also prints its progress between the first and the last line.
    expect(output.split('\n').at(0)).toBe(
      'DynamoDB counts items only every six hours, and has counted none in empty yet. ' +
        'The first estimate follows when the first segments are finished.',
    );
    expect(output).toMatch(/\n0 items read, 0 copied\. Finished\.\n$/);
    expect(await itemsIn('unchanged')).toEqual([{ id: 1n }]);
  });

  test('adds the keys of the indexes that were added after the restore point', async () => {
    const { before, after } = tableOf('older', 3);
    await createTable('older', before);
    await createTable('newer', [after[1]!], 'id', ['newest']);
    expect(await run(restore, { SOURCE: 'older', TARGET: 'newer' })).toBe(
      '3 items read, 2 copied. Finished.',
    );
    expect(await itemsIn('newer')).toEqual(after);
  });

  test('copies nothing into a table with an index that the project does not know', async () => {
    await createTable('indexed', [], 'id', ['newest', 'newest-by-color']);
    await createTable('unindexed', [{ id: 1n }]);
    expect(errorOutput(await start(restore, { SOURCE: 'unindexed', TARGET: 'indexed' }).ended)).toBe(
      'This version of the project does not know the index newest-by-color of indexed. ' +
        'Check out the commit that was deployed last, and repeat the command.',
    );
    expect(await itemsIn('indexed')).toEqual([]);
  });

  test('rejects tables with different keys', async () => {
    const { ended } = start(restore, { SOURCE: 'keys', TARGET: 'empty' });
    expect(errorOutput(await ended)).toBe(
      'The items of keys have the key hash, and those of empty have the key id. ' +
        'Set SOURCE and TARGET to tables of the same items.',
    );
  });

  describe('for API keys', () => {
    const revocation = {
      revokedAt: '2026-11-21T18:03:22.257Z',
      revokedBy: { action: 'revoke', caller: 'Ada' },
    };
    const restored = Array.from('012345', (digit) => keyRecord(digit));
    const [active, byId, byHash, stored, present, known] = restored as [Key, Key, Key, Key, Key, Key];
    type Key = (typeof restored)[number];

    test('copies a key that was revoked after the restore point only as a revoked key', async () => {
      const aws = await startFakeAws({ caller: 'Ada' });
      closeAll.push(aws.close);
      const lostRevocation = { hash: stored.keyId, keyId: stored.keyId, stage: 'staging', ...revocation };
      await createTable('keys-then', [...restored, keyRecord('6', revocation)], 'hash');
      const now = [lostRevocation, present, { ...known, ...revocation }, keyRecord('6'), keyRecord('7')];
      await createTable('keys-now', now, 'hash');
      const REVOKED = ` ${byId.keyId}  ${byHash.hash} ${present.keyId} ${known.keyId} `;
      const settings = { SOURCE: 'keys-then', TARGET: 'keys-now', REVOKED, ...aws.environment };
      const proxy = await startProxy(({ pass }) => pass());
      // The record of the last key in SOURCE is revoked there and active in TARGET, so the script revokes it.
      expect(await run(restore, { ...settings, ...proxy.environment })).toBe(
        '7 items read, 6 copied. Finished.',
      );
      const unrevoked = proxy.inputsOf('PutItem').filter(({ Item }) => !Item.revokedAt);
      expect(unrevoked.map(({ Item }) => Item.hash.S)).toEqual([active.hash]);
      expect(await run(restore, settings)).toBe('7 items read, 0 copied. Finished.');

      expect(await itemsIn('keys-now', 'hash')).toEqual([
        active,
        revokedByAda(byId),
        revokedByAda(byHash),
        { ...stored, ...revocation },
        revokedByAda(present),
        { ...known, ...revocation },
        keyRecord('6', revocation),
        keyRecord('7'),
        lostRevocation,
      ]);
    });

    // The script looks for a revocation before and after it writes a record. A revocation after the second look finds
    // the record, and revokes the key there.
    test.each([
      ['before the record is written', 'PutItem', 1, 'before'],
      ['after the record is written', 'PutItem', 1, 'after'],
      ['after the last look for a revocation', 'GetItem', 2, 'after'],
    ])('revokes the copy of a key that is revoked %s', async (when, action, at, order) => {
      const [SOURCE, TARGET] = [`${when} then`, `${when} now`].map((name) => name.replaceAll(' ', '-'));
      await createTable(SOURCE!, [active], 'hash');
      await createTable(TARGET!, [], 'hash');
      const store = { stage: 'staging', table: TARGET!, database: DynamoDBDocumentClient.from(client) };
      let calls = 0;
      const proxy = await startProxy(async (call) => {
        const isMoment = call.action === action && (calls += 1) === at;
        if (isMoment && order === 'before') await revokeLostKey(store, active.keyId, 'Ada');
        const answer = await call.pass();
        if (isMoment && order === 'after') await revokeLostKey(store, active.keyId, 'Ada');
        return answer;
      });
      const settings = { SOURCE: SOURCE!, TARGET: TARGET!, REVOKED: 'none', ...proxy.environment };
      expect(await run(restore, settings)).toBe('1 items read, 1 copied. Finished.');
      const [record] = await itemsIn(TARGET!, 'hash');
      expect(record).toMatchObject({ ...active, revokedBy: { caller: 'Ada' } });
    });

    test.each([
      ['TARGET', [], [active]],
      ['SOURCE', [active], []],
    ])(
      'stores a record from %s as revoked if SOURCE contains its revocation',
      async (where, source, target) => {
        const tables = { SOURCE: `revoked-then-${where}`, TARGET: `revoked-now-${where}` };
        const lostRevocation = { hash: active.keyId, keyId: active.keyId, stage: 'staging', ...revocation };
        await createTable(tables.SOURCE, [...source, lostRevocation], 'hash');
        await createTable(tables.TARGET, [...target, keyRecord('7')], 'hash');
        await run(restore, { ...tables, REVOKED: 'none' });
        const records = [{ ...active, ...revocation }, keyRecord('7'), lostRevocation];
        expect(await itemsIn(tables.TARGET, 'hash')).toEqual(records);
        expect(await run(restore, { ...tables, REVOKED: 'none' })).toMatch(/ 0 copied\. Finished\.$/);
      },
    );

    test('copies nothing if TARGET has no index of API keys', async () => {
      await createTable('no-index', [], 'hash', []);
      const settings = { SOURCE: 'keys', TARGET: 'no-index', REVOKED: 'none' };
      expect(errorOutput(await start(restore, settings).ended)).toBe(
        'no-index has the key of a table of API keys, but no index by-stage. ' +
          "Set TARGET to the stage's table of API keys.",
      );
      expect(await itemsIn('no-index', 'hash')).toEqual([]);
    });

    test('applies a changed REVOKED even to keys that an earlier run has copied', async () => {
      const aws = await startFakeAws({ caller: 'Ada' });
      closeAll.push(aws.close);
      await createTable('listed', [active], 'hash');
      await createTable('forgotten', [], 'hash');
      const settings = { SOURCE: 'listed', TARGET: 'forgotten', PART: '1/1', ...aws.environment };
      await run(restore, { ...settings, REVOKED: 'none' });
      await run(restore, { ...settings, REVOKED: active.keyId });
      expect(await itemsIn('forgotten', 'hash')).toEqual([revokedByAda(active)]);
    });

    test.each([
      [
        undefined,
        /^The tables contain API keys, so set REVOKED to .* "Restored API keys" in docs\/runbook\.md /,
      ],
      [' ', /^The tables contain API keys, so set REVOKED to /],
      ['none key_1', /^REVOKED must consist of key ids, /],
      ['pets_staging_secret', /^REVOKED must consist of key ids, (?!.*secret)/],
      [
        'key_00 key_9',
        /^keys contains no key key_00 key_9\. Correct REVOKED\. Omit keys that were issued after/,
      ],
    ])('copies nothing if REVOKED is %j', async (REVOKED, message) => {
      const settings = { SOURCE: 'keys', TARGET: 'no-keys', ...(REVOKED !== undefined && { REVOKED }) };
      expect(errorOutput(await start(restore, settings).ended)).toMatch(message);
      expect(await itemsIn('no-keys', 'hash')).toEqual([]);
    });
  });

  test.each([
    ['is the same table as TARGET', 'empty', 'Set SOURCE and TARGET to the names of different tables.'],
    ['is empty', '', 'Set SOURCE and TARGET to the names of different tables.'],
    ['does not exist', 'none', 'Requested resource not found: Table: none not found'],
  ])('prints only one sentence if SOURCE %s', async (_case, SOURCE, message) => {
    expect(errorOutput(await start(restore, { SOURCE, TARGET: 'empty' }).ended)).toBe(message);
  });
});

test.each(Object.entries(collectionTests))(
  'the script that fills an index adds missing keys to %s and changes nothing else',
  async (plural, { table, newItem, variants }) => {
    const newItems = [{}, {}, ...variants].map((fields) => variantOf(newItem('An item'), fields));
    const items = newItems.map((item, id) => storedItem(id, item));
    const tables = { COLLECTION: plural, TABLE: table.logicalId };
    await createTable(tables.TABLE, items.with(0, storedItem(0, newItems[0]!, false)));
    expect(await run(addKeys, tables)).toBe(`${items.length} items read, 1 changed. Finished.`);
    expect(await run(addKeys, tables)).toBe(`${items.length} items read, 0 changed. Finished.`);
    expect(await itemsIn(tables.TABLE)).toEqual(items);
  },
);

describe('the script that fills an index', () => {
  test('does not restore deleted items', async () => {
    const { before, after, variables } = tableOf('deleted', 3);
    await createTable('deleted', before);
    const Key = marshall({ id: 1n });
    const proxy = await startProxy(async ({ action, input, pass }) => {
      if (action === 'UpdateItem' && input.Key.id.N === '1')
        await client.send(new DeleteItemCommand({ TableName: 'deleted', Key }));
      return pass();
    });
    const last = await run(addKeys, { ...variables, ...proxy.environment });
    expect(last).toBe('3 items read, 2 changed. Finished.');
    expect(await itemsIn('deleted')).toEqual([after[0], after[2]]);
  });
});

describe('an interrupted script', () => {
  interface Prepared {
    variables: Record<string, string>;
    /** The table that the script changes, and its items afterwards. */
    table: string;
    items: Record<string, unknown>[];
  }

  /** Prepares a run of a script that has to write `count` items, in tables whose names end with `suffix`. */
  type Prepare = (count: number, suffix: string) => Promise<Prepared>;
  const scripts: [script: string, write: string, prepare: Prepare][] = [
    [
      restore,
      'PutItem',
      async (count, suffix) => {
        const items = Array.from({ length: count }, (_, index) => ({ id: BigInt(index) }));
        const [SOURCE, TARGET] = [`source-${suffix}`, `target-${suffix}`];
        await createTable(SOURCE, items);
        await createTable(TARGET, []);
        return { variables: { SOURCE, TARGET }, table: TARGET, items };
      },
    ],
    [
      addKeys,
      'UpdateItem',
      async (count, suffix) => {
        const { before, after, variables } = tableOf(`unfilled-${suffix}`, count);
        await createTable(variables.TABLE, before);
        return { variables, table: variables.TABLE, items: after };
      },
    ],
  ];

  test.each(scripts)(
    '%s fails if a write fails, and writes the item in its next run',
    async (script, action, prepare) => {
      const { variables, table, items } = await prepare(20, 'denied');
      const denied = {
        __type: 'com.amazon.coral.service#AccessDeniedException',
        message: 'denied by an SCP',
      };
      const proxy = await startProxy(async (call) => {
        const { id } = call.input.Item ?? call.input.Key ?? {};
        if (call.action !== action || id.N !== '7') return call.pass();
        return { status: 400, body: Buffer.from(JSON.stringify(denied)) };
      });
      const { code, stdout, stderr } = await start(script, { ...variables, ...proxy.environment }).ended;
      expect(code).toBe(1);
      expect(stderr).toBe(
        'Your credentials are missing a permission. See docs/policies/break-glass.json. Cause: denied by an SCP.\n',
      );
      expect(stdout).not.toContain('Finished');
      expect(await itemsIn(table)).not.toEqual(items);
      await run(script, variables);
      expect(await itemsIn(table)).toEqual(items);
    },
  );

  test.each(scripts)('%s that is killed resumes in two parts', async (script, action, prepare) => {
    const { variables, table, items } = await prepare(1_000, 'killed');
    let child: RunningModule | undefined;
    /** Segment of each item that is not the first of its segment. */
    const segments = new Map<string, number>();
    const written = new Set<string>();
    let killedIn: number | undefined;
    const interrupted = await startProxy(async (call) => {
      if (call.action === 'Scan') {
        const page = await call.pass({ ...call.input, Limit: 1 });
        for (const { id } of JSON.parse(page.body.toString()).Items)
          if (call.input.ExclusiveStartKey) segments.set(id.N, call.input.Segment);
        return page;
      }
      if (call.action === action && killedIn === undefined) {
        const { id } = call.input.Item ?? call.input.Key;
        if (written.size >= 500) killedIn = segments.get(id.N);
        if (killedIn === undefined) written.add(id.N);
        else child!.process.kill('SIGKILL');
      }
      return killedIn === undefined ? call.pass() : undefined;
    });
    child = start(script, { ...variables, ...interrupted.environment });
    expect((await child.ended).code).toBe(1);
    await interrupted.settled();

    const resumed = await startProxy(({ pass }) => pass());
    const last = await Promise.all(
      ['1/2', '2/2'].map((PART) => run(script, { ...variables, ...resumed.environment, PART })),
    );
    expect(await itemsIn(table)).toEqual(items);
    const counts = last.map(countsIn);
    expect(counts[0]!.read + counts[1]!.read).toBe(1_000);
    const ids = resumed.inputsOf(action).map(({ Item, Key = Item }) => Key.id.N);
    expect(new Set(ids).size).toBe(1_000 - written.size);
    const scans = resumed.inputsOf('Scan');
    expect(new Set(scans.map(({ Segment }) => Segment)).size).toBeLessThan(256);
    // The killed script had finished the first page of this segment.
    expect(scans.find(({ Segment }) => Segment === killedIn).ExclusiveStartKey).toBeDefined();
    deleteProgress();
    expect(countsIn(await run(script, variables))).toEqual({ read: 1_000, written: 0 });
  });
});

const shells = ['bash', 'zsh'].filter(isInstalled);

test.each(shells)(
  'the command for several processes in docs/runbook.md copies all items in %s',
  async (shell) => {
    const command = blockWith('xargs', readFileSync('docs/runbook.md', 'utf8'));
    const items = Array.from({ length: 100 }, (_, index) => ({ id: BigInt(index) }));
    const [SOURCE, TARGET] = [`${shell}-source`, `${shell}-target`];
    await createTable(SOURCE, items);
    await createTable(TARGET, []);
    const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
    const env = commandEnvironment({ ...databaseEnvironment(endpoint, 'test'), SOURCE, TARGET, PATH });
    const output = done(await outcomeOf(promisify(execFile)(shell, ['-c', command], { env })));
    const last = output.match(/^Part \d\/4: .* Finished\.$/gm)!.toSorted();
    expect(last.map((line) => line.slice(0, 8))).toEqual(['Part 1/4', 'Part 2/4', 'Part 3/4', 'Part 4/4']);
    const written = last.map((line) => countsIn(line).written);
    expect(written.reduce((total, count) => total + count)).toBe(100);
    expect(await itemsIn(TARGET)).toEqual(items);
  },
);

// The stub prints what AWS prints for a stack whose tables have the names in NEW, and for the tables in OLD.
const deletedStack = `aws() {
  case "$*" in
    *list-stack-resources*) echo "$NEW" | tr ' ' '\\n' | grep "Storage$ITEMS" ;;
    *list-tables*) echo "$OLD" | tr ' ' '\\n' | grep "$(echo "$*" | sed "s/.*starts_with(@, '\\([^']*\\)'.*/^\\1/")" ;;
    *describe-table*) echo "$4 3 2026-11-21" ;;
  esac
}
STAGE=production AWS_REGION=us-east-1
. docs/runbook/runbook.sh > /dev/null
`;

describe.each(shells)('in %s, the commands for a deleted stack', (shell) => {
  const runbook = readFileSync('docs/runbook.md', 'utf8');
  const command = blockWith('old_tables', runbook);
  const all = Object.entries({ ApiKeys: 'hash', IdempotencyRecords: 'token', Items: 'id' }).map(
    ([name, key]) => {
      const prefix = `PetStore-production-Storage${name}0F2A8E93-${shell.toUpperCase()}`;
      return { name, key, old: `${prefix}OLD`, new: `${prefix}NEW` };
    },
  );

  test.each(all)('copy $name from the old table into the table of the new stack', async (table) => {
    const keyOf = (id: number) => ({ [table.key]: table.key === 'hash' ? `hash ${id + 100}` : BigInt(id) });
    const old = Array.from({ length: 20 }, (_, id) => ({ ...keyOf(id), owner: 'Old' }));
    const isNew = { ...keyOf(3), owner: 'New' };
    await createTable(table.old, old, table.key);
    await createTable(table.new, [isNew, keyOf(100)], table.key);
    const script = command.replaceAll('ApiKeys', table.name).replace('PUT-THE-OLD-TABLE-HERE', table.old);
    const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
    const names = { NEW: all.map((one) => one.new).join(' '), OLD: all.map((one) => one.old).join(' ') };
    const env = commandEnvironment({
      ...databaseEnvironment(endpoint, 'test'),
      ...names,
      ITEMS: table.name,
      PATH,
    });
    const running = promisify(execFile)(shell, ['-c', deletedStack + script], { env });
    const [found, ...output] = done(await outcomeOf(running))
      .trimEnd()
      .split('\n');
    expect(found).toBe(`${table.old} 3 2026-11-21`);
    expect(output.at(-1)).toBe('20 items read, 19 copied. Finished.');
    expect(await itemsIn(table.new, table.key)).toEqual([...old.with(3, isNew), keyOf(100)]);
  });
});

describe.each([
  [restore, { SOURCE: 'empty', TARGET: 'other' }],
  [addKeys, { COLLECTION: Object.keys(collectionTests)[0]!, TABLE: 'empty' }],
])('%s prints only one sentence', (script, variables) => {
  const part =
    'PART must be the number of a part and the number of parts, such as 2/4, with up to 256 parts.';
  test.each(['0/4', '5/4', '2', '1/257', '1/4/2', ''])('if PART is "%s"', async (PART) => {
    expect(errorOutput(await start(script, { ...variables, PART }).ended)).toBe(part);
  });

  test.each(['READS_PER_SECOND', 'WRITES_PER_SECOND'])('if %s is invalid', async (name) => {
    for (const value of ['0', '-1', '1.5', 'many', '']) {
      const { ended } = start(script, { ...variables, [name]: value });
      expect(errorOutput(await ended)).toBe(`${name} must be an integer from 1 to 1000000.`);
    }
  });
});
