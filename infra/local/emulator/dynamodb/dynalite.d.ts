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
  /** Internal functions of dynalite. store.ts replaces `create` and `updateIndexes`. */
  const engine: any;
  export default engine;
}
