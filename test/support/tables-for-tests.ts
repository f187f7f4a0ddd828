import { afterAll, beforeAll, jest } from '@jest/globals';
import type { Database } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import type { Table } from '../../infra/local/emulator/dynamodb/store.ts';
import type { Collection } from '../../shared/contract/collection.ts';
import { listIndexes } from '../../shared/list-indexes.ts';
import { tableVariable } from '../../shared/names.ts';
import { setFunctionsEnvironment, stagingTemplate, startTables } from './real-database.ts';

/**
 * Starts the staging stack's tables for the tests in the file. Disables `setTimeout` in these tests, because a timeout
 * on a busy machine would not indicate a fault of the service.
 *
 * @param others collections outside the stack, which also get tables
 */
export function useRealTables(...others: Collection[]): void {
  let tables: Database;
  beforeAll(async () => {
    const template = await stagingTemplate();
    tables = await startTables(template, others.map(tableOf));
    setFunctionsEnvironment(template, tables.endpoint);
    for (const collection of others) process.env[tableVariable(collection)] = tableOf(collection).logicalId;
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'setImmediate', 'queueMicrotask'] });
  });
  afterAll(() => tables.close());
}

/** Returns a table with the keys and indexes that the stack gives the tables of its collections. */
function tableOf(collection: Collection): Table {
  const indexes = listIndexes(collection);
  return {
    logicalId: collection.plural,
    properties: {
      AttributeDefinitions: [
        { AttributeName: 'id', AttributeType: 'N' },
        ...indexes.map(({ partitionKey }) => ({ AttributeName: partitionKey, AttributeType: 'S' })),
      ],
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: indexes.map(({ indexName, partitionKey }) => ({
        IndexName: indexName,
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          { AttributeName: 'id', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      })),
    },
  };
}
