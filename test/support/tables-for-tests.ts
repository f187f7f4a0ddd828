import { afterAll, beforeAll } from '@jest/globals';
import type { Database } from '../../infra/local/dynamodb/dynamodb.ts';
import { database } from '../../shared/storage/database.ts';
import { sharedSynthesis } from './assembly.ts';
import { fakeTimers } from './fake-timers.ts';
import { startRealDatabase } from './real-database.ts';

/**
 * Has the tests of the file run on the tables of the staging stack. No call to them runs into a time-out, nor is tried
 * again after one: on a busy machine that says nothing of the service. Whatever waits by `setTimeout` in these tests
 * waits for good.
 */
export function useRealTables(): void {
  let tables: Database;
  beforeAll(async () => {
    const { assembly } = await sharedSynthesis();
    tables = await startRealDatabase(assembly);
    fakeTimers('setTimeout', 'clearTimeout');
  });
  afterAll(async () => {
    database.destroy();
    await tables.close();
  });
}
