import { AbstractValueIterator } from 'abstract-level';
import dynalite from 'dynalite';
import engine, { type Store, type Table } from 'dynalite/db/index.js';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { UsageError } from '../../operate/command.ts';
import { requireIntactLog } from './level-log.ts';

export type OpenStore = Awaited<ReturnType<typeof openStore>>;

/**
 * Opens the tables in a folder, or in memory. No other process can open the folder until they are closed.
 *
 * @throws UsageError if they are in use; an error of LevelDB if they cannot be opened.
 */
export async function openStore(folder?: string) {
  if (folder) requireIntactLog(folder);
  const server = dynalite({ createTableMs: 0, ...(folder !== undefined && { path: folder }) });
  const { db } = created!;
  try {
    // dynalite would end the process at the first request to a store that could not be opened.
    await db.open();
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException;
    if (cause.code !== 'LEVEL_LOCKED') throw cause;
    throw new UsageError(
      `The data in ${folder} is in use by another local service: stop it, or choose another folder with --data.`,
    );
  }
  return {
    /** Handles a request as DynamoDB. */
    handle: (request: Readable, response: ServerResponse) => server.emit('request', request, response),
    close: () => db.close(),
  };
}

/** The latest store. dynalite does not give access to the one that it has created. */
let created: Store | undefined;
const { create } = engine;

engine.create = (options: object) => (created = create(options));

// dynalite 4.0.0 writes the entries of the indexes and then the item. If the process is killed in between, an index lists
// an item that cannot be read. One batch writes all or nothing; the write of the item that follows changes nothing.
engine.updateIndexes = ({ db }: Store, table: Table, before: any, after: any, callback: () => void) => {
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
};

// dynalite 4.0.0 ends the iterator of a list with `return`, which abstract-level 3 does not have. Without it, every
// list would leak its iterator, and the files and memory that it holds.
Object.assign(AbstractValueIterator.prototype, {
  return(this: AbstractValueIterator<any, any, any>) {
    return this.close();
  },
});
