declare module 'dynalite' {
  import type { Server } from 'node:http';

  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}

declare module 'dynalite/db/index.js' {
  export type Item = Record<string, unknown>;
  export interface Table {
    TableName: string;
    LocalSecondaryIndexes?: object[];
    GlobalSecondaryIndexes?: object[];
  }
  export interface Store {
    db: { batch: (operations: object[], callback: (error?: Error) => void) => void };
  }
  export interface IndexActions {
    deletes: { index: string; key: string }[];
    puts: { index: string; key: string; item: Item }[];
  }
  const engine: {
    createKey: (item: Item, table: Table) => string;
    getIndexActions: (
      indexes: object[],
      before: Item | undefined,
      after: Item | undefined,
      table: Table,
    ) => IndexActions;
    updateIndexes: (
      store: Store,
      table: Table,
      before: Item | undefined,
      after: Item | undefined,
      callback: (error?: Error) => void,
    ) => void;
  };
  export default engine;
}
