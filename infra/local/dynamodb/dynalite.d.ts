declare module 'dynalite' {
  import type { Server } from 'node:http';

  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}

declare module 'dynalite/db/index.js' {
  export type Item = Record<string, unknown>;
  export interface Table {
    TableName: string;
    GlobalSecondaryIndexes?: object[];
  }
  export interface Store {
    db: {
      open: () => Promise<void>;
      close: () => Promise<void>;
      batch: (operations: object[], callback: (error?: Error) => void) => void;
    };
  }
  const engine: {
    create: (options: object) => Store;
    createKey: (item: Item, table: Table) => string;
    getIndexActions: (
      indexes: object[],
      before: Item | undefined,
      after: Item | undefined,
      table: Table,
    ) => {
      deletes: { index: string; key: string }[];
      puts: { index: string; key: string; item: Item }[];
    };
    updateIndexes: (
      store: { db: Pick<Store['db'], 'batch'> },
      table: Table,
      before: Item | undefined,
      after: Item | undefined,
      callback: (error?: Error) => void,
    ) => void;
  };
  export default engine;
}
