import { afterAll, beforeAll, jest } from '@jest/globals';
import type { Database } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { database } from '../../shared/storage/database.ts';
import { sharedSynthesis } from './assembly.ts';
import { setFunctionsEnvironment, startTables } from './real-database.ts';

/**
 * Starts the staging stack's tables for the tests in the file. `setTimeout` never fires in these tests, because
 * a timeout on a busy machine would not indicate a fault of the service.
 */
export function useRealTables(): void {
  let tables: Database;
  beforeAll(async () => {
    const template = readTemplate('PetStore-staging', (await sharedSynthesis()).assembly);
    tables = await startTables(template);
    setFunctionsEnvironment(template, tables.endpoint);
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'setImmediate', 'queueMicrotask'] });
  });
  afterAll(async () => {
    database.destroy();
    await tables.close();
  });
}
