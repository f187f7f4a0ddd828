import { AbstractValueIterator } from 'abstract-level';
import dynalite from 'dynalite';
import engine from 'dynalite/db/index.js';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { EmulatorError } from '../errors.ts';

export type OpenStore = Awaited<ReturnType<typeof openStore>>;

/**
 * Opens the tables in a folder and locks the folder until the tables are closed.
 *
 * @param folder folder of the tables @default - tables in memory
 * @throws EmulatorError if another process uses the tables, or if the tables cannot be read.
 */
export async function openStore(folder?: string) {
  const { server, db } = createEngine(folder);
  try {
    // The store is opened here, because dynalite exits the process if the store cannot be opened.
    await db.open();
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException;
    if (cause.code === 'LEVEL_LOCKED')
      throw new EmulatorError('lock', `Another process uses the tables in ${folder}.`);
    throw new EmulatorError('tables', `The tables in ${folder} cannot be read (${cause.message}).`, {
      cause,
    });
  }
  return {
    handle: (request: Readable, response: ServerResponse): boolean =>
      server.emit('request', request, response),
    close: (): Promise<void> => db.close(),
  };
}

/** Creates a dynalite server and returns it with its store, which dynalite does not expose. */
function createEngine(path?: string) {
  let store: any;
  const { create } = engine;
  engine.create = (options: object) => (store = create(options));
  const server = dynalite({ createTableMs: 0, ...(path !== undefined && { path }) });
  Object.assign(engine, { create, updateIndexes });
  // dynalite 4.0.0 closes a query's iterator with `return`, which abstract-level 3 does not provide. Without this method,
  // every query would leak memory and open files.
  Object.assign(AbstractValueIterator.prototype, {
    return(this: AbstractValueIterator<any, any, any>) {
      return this.close();
    },
  });
  return { server, db: store.db };
}

/**
 * Replaces dynalite's function of the same name. dynalite 4.0.0 writes index entries before the item, so an index can list
 * an item that was never written. This function writes the index entries and the item in one atomic batch. dynalite then
 * writes the same item again.
 */
export function updateIndexes({ db }: any, table: any, before: any, after: any, callback: () => void): void {
  if (!before && !after) return callback();
  const { TableName, GlobalSecondaryIndexes = [] } = table;
  const { deletes, puts } = engine.getIndexActions(GlobalSecondaryIndexes, before, after, table);
  const prefix = `index-global~${TableName}~`;
  const key = `item-${TableName}~${engine.createKey(after ?? before, table)}`;
  const writes = [
    ...deletes.map((entry: any) => ({ type: 'del', key: `${prefix}${entry.index}~${entry.key}` })),
    ...puts.map((put: any) => ({ type: 'put', key: `${prefix}${put.index}~${put.key}`, value: put.item })),
    after ? { type: 'put', key, value: after } : { type: 'del', key },
  ];
  db.batch(writes, callback);
}
