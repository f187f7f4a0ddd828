import { AbstractValueIterator } from 'abstract-level';
import dynalite from 'dynalite';
import engine, { type Item, type Store, type Table } from 'dynalite/db/index.js';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { UsageError } from '../../operate/command.ts';

export interface OpenStore {
  /** Handles a request as DynamoDB. */
  handle: (request: Readable, response: ServerResponse) => void;
  close: () => Promise<void>;
}

/**
 * Opens the tables in a folder, or in memory. No other process can open the folder until they are closed.
 *
 * @throws UsageError if they are in use or cannot be opened.
 */
export async function openStore(folder?: string): Promise<OpenStore> {
  const options = { createTableMs: 0, ...(folder !== undefined && { path: folder }) };
  const server = dynalite(options);
  const { db } = stores.get(options)!;
  try {
    // dynalite would end the process at the first request to a store that could not be opened.
    await db.open();
  } catch (error) {
    const { code, message } = (error as Error).cause as NodeJS.ErrnoException;
    throw new UsageError(
      code === 'LEVEL_LOCKED'
        ? `The data in ${folder} is in use by another local service: stop it, or choose another folder with --data.`
        : `The data in ${folder} cannot be opened (${message}): choose another folder with --data.`,
    );
  }
  return {
    handle: (request, response) => server.emit('request', request, response),
    close: () => db.close(),
  };
}

/** The stores that dynalite has created, by its options. dynalite does not give access to them. */
const stores = new WeakMap<object, Store>();
const { create } = engine;

Object.assign(engine, {
  create(options: object): Store {
    const store = create(options);
    stores.set(options, store);
    return store;
  },

  // dynalite 4.0.0 writes the entries of the indexes and then the item. If the process is killed in between, an index
  // lists an item that cannot be read. One batch writes all or nothing; the write of the item that follows changes nothing.
  updateIndexes(
    { db }: Store,
    table: Table,
    before: Item | undefined,
    after: Item | undefined,
    callback: (error?: Error) => void,
  ): void {
    if (!before && !after) return callback();
    const { TableName, GlobalSecondaryIndexes = [] } = table;
    const { deletes, puts } = engine.getIndexActions(GlobalSecondaryIndexes, before, after, table);
    const prefix = `index-global~${TableName}~`;
    const key = `item-${TableName}~${engine.createKey((after ?? before)!, table)}`;
    const writes = [
      ...deletes.map((entry) => ({ type: 'del', key: `${prefix}${entry.index}~${entry.key}` })),
      ...puts.map((put) => ({ type: 'put', key: `${prefix}${put.index}~${put.key}`, value: put.item })),
      after ? { type: 'put', key, value: after } : { type: 'del', key },
    ];
    db.batch(writes, callback);
  },
});

// dynalite 4.0.0 ends the iterator of a list with `return`, which abstract-level 3 does not have. Without it, every
// list would leak its iterator, and the files and memory that it holds.
Object.assign(AbstractValueIterator.prototype, {
  return(this: AbstractValueIterator<any, any, any>) {
    return this.close();
  },
});
