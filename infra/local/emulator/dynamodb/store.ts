import { AbstractValueIterator } from 'abstract-level';
import dynalite from 'dynalite';
import engine from 'dynalite/db/index.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { EmulatorError } from '../emulator-error.ts';
import type { Resource } from '../template/template.ts';

// These statements patch dynalite 4.0.0. infra/local/emulator/README.md gives the reasons.
const createStore = engine.create;
engine.updateIndexes = updateIndexes;
const iterator: { return?: unknown; close: unknown } = AbstractValueIterator.prototype;
iterator.return = iterator.close;

export type OpenStore = Awaited<ReturnType<typeof openStore>>;

export type Table = Resource<'AWS::DynamoDB::GlobalTable'>;

/**
 * Opens the tables in a folder and locks the folder until the tables are closed.
 *
 * @param folder folder of the tables @default - tables in memory
 * @throws EmulatorError if another process uses the tables.
 * @throws Error whose code starts with `LEVEL_` if the tables cannot be read.
 */
export async function openStore(folder?: string) {
  const store = createStore({ path: folder });
  const { db } = store;
  // dynalite would exit the process if it could not open the store, so the store is opened here.
  await db.open().catch(({ cause }: { cause: NodeJS.ErrnoException }) => {
    if (cause.code !== 'LEVEL_LOCKED') throw cause;
    const remedy = 'Stop the local service that uses this folder, or choose another folder.';
    throw new EmulatorError(`Another process uses the tables in ${folder}. ${remedy}`, { cause });
  });
  engine.create = () => store; // Otherwise, dynalite would create a store of its own, which it does not expose.
  const server = dynalite();
  return {
    /**
     * Creates the table unless it is stored. dynalite's CreateTable is not used, because CreateTable writes twice. A
     * process that is killed between the two writes leaves an unusable table.
     *
     * @throws EmulatorError if the stored table differs from the template.
     */
    async ensureTable({ logicalId, properties }: Table): Promise<void> {
      const key = `table~${logicalId}`;
      const stored = await db.get(key);
      if (!stored) return db.put(key, { TableName: logicalId, TableStatus: 'ACTIVE', ...properties });
      if (isDeepStrictEqual(shape(stored), shape(properties))) return;
      const problem = `The keys or indexes of the stored table ${logicalId} differ from the template.`;
      throw new EmulatorError(
        `${problem} Choose another folder with --data, or delete ${folder} if you do not need its data.`,
      );
    },
    /** Passes a request to dynalite. `input` is the request's parsed body, because the body has already been read. */
    handle(request: IncomingMessage, input: object, response: ServerResponse): void {
      const { method, url, headers } = request;
      const body = Readable.from([JSON.stringify(input)]);
      server.emit('request', Object.assign(body, { method, url, headers }), response);
    },
    close: (): Promise<void> => db.close(),
  };
}

/** Returns the table's keys and its indexes by name, so that tables are equal whatever the order of their indexes. */
function shape({ AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] }: any) {
  const indexes = GlobalSecondaryIndexes.map((index: any) => [index.IndexName, index.KeySchema]);
  return { AttributeDefinitions, KeySchema, indexes: Object.fromEntries(indexes) };
}

/** Writes the index entries and the item in one atomic batch, so dynalite's later write of the same item has no effect. */
function updateIndexes({ db }: any, table: any, before: any, after: any, callback: () => void): void {
  if (!before && !after) return callback();
  const { TableName, GlobalSecondaryIndexes = [] } = table;
  const { deletes, puts } = engine.getIndexActions(GlobalSecondaryIndexes, before, after, table);
  const indexPrefix = `index-global~${TableName}~`;
  const itemKey = `item-${TableName}~${engine.createKey(after ?? before, table)}`;
  const writes = [
    ...deletes.map(({ index, key }: any) => ({ type: 'del', key: `${indexPrefix}${index}~${key}` })),
    ...puts.map(({ index, key, item }: any) => ({
      type: 'put',
      key: `${indexPrefix}${index}~${key}`,
      value: item,
    })),
    after ? { type: 'put', key: itemKey, value: after } : { type: 'del', key: itemKey },
  ];
  db.batch(writes, callback);
}
