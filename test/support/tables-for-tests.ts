import { afterAll, beforeAll, jest } from '@jest/globals';
import type { Database } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { setFunctionsEnvironment, stagingTemplate, startTables } from './real-database.ts';

/**
 * Starts the staging stack's tables for the tests in the file. Disables `setTimeout` in these tests, because a timeout
 * on a busy machine would not indicate a fault of the service.
 */
export function useRealTables(): void {
  let tables: Database;
  beforeAll(async () => {
    const template = await stagingTemplate();
    tables = await startTables(template);
    setFunctionsEnvironment(template, tables.endpoint);
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'setImmediate', 'queueMicrotask'] });
  });
  afterAll(() => tables.close());
}
