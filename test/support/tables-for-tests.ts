import { afterAll, beforeAll, jest } from '@jest/globals';
import type { Database } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import type { Table } from '../../infra/local/emulator/dynamodb/store.ts';
import { setFunctionsEnvironment, stagingTemplate, startTables } from './real-database.ts';

/**
 * Starts the staging stack's tables for the tests in the file. Disables `setTimeout` in these tests, because a timeout
 * on a busy machine would not indicate a fault of the service.
 *
 * @param others tables outside the stack. The logical id of each table is its name, and also the name of the environment
 *   variable that contains the name.
 */
export function useRealTables(others: Table[] = []): void {
  let tables: Database;
  beforeAll(async () => {
    const template = await stagingTemplate();
    tables = await startTables(template, others);
    setFunctionsEnvironment(template, tables.endpoint);
    for (const { logicalId } of others) process.env[logicalId] = logicalId;
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'setImmediate', 'queueMicrotask'] });
  });
  afterAll(() => tables.close());
}
