import { describe, expect, test } from '@jest/globals';
import { indexKey } from '../../infra/stack/storage.ts';
import { collectionTests } from '../collections/all.ts';
import { books } from '../support/books.ts';
import { stages } from '../support/stages.ts';
import { readableTemplate, resourcesOf, stackTemplate, stageNames } from '../support/stack-template.ts';

const TABLE = 'AWS::DynamoDB::GlobalTable';

describe.each(stageNames)('the tables of %s', (stage) => {
  const template = readableTemplate(stage);
  const tables = new Map(resourcesOf(template, TABLE));
  const { maxReadUnitsPerSecond, maxWriteUnitsPerSecond } = stages[stage];

  // If a table's logical id changes, CloudFormation replaces the table with an empty table. Before you change an id
  // here or in test/collections, migrate the table's data.
  test('keep their logical ids', () => {
    const ids = resourcesOf(stackTemplate(stage), TABLE).map(([id]) => id);
    const ofCollections = Object.values(collectionTests).map(({ table }) => table.logicalId);
    const kept = [...ofCollections, 'StorageIdempotencyRecords2F14FA9C', 'StorageApiKeys7B037C32'];
    expect(new Set(ids)).toEqual(new Set(kept));
  });

  // If a table's key changes, CloudFormation also replaces the table with an empty table.
  test('keep their keys and indexes', () => {
    const keys = [...tables].flatMap(([name, { Properties }]) => {
      const { AttributeDefinitions, GlobalSecondaryIndexes = [] } = Properties;
      return [Properties, ...GlobalSecondaryIndexes].map(({ IndexName = 'table', KeySchema }) => {
        const attributes = KeySchema.map(({ AttributeName, KeyType }: any) => {
          const definition = AttributeDefinitions.find((other: any) => other.AttributeName === AttributeName);
          return `${KeyType} ${AttributeName} ${definition.AttributeType}`;
        });
        return `${name} ${IndexName}: ${attributes.join(', ')}`;
      });
    });
    const kept = [
      ...Object.values(collectionTests).flatMap(({ table }) => table.keys),
      'StorageIdempotencyRecords table: HASH token S',
      'StorageApiKeys table: HASH hash S',
      'StorageApiKeys by-stage: HASH stage S, RANGE keyId S',
    ];
    expect(new Set(keys)).toEqual(new Set(kept));
  });

  test.each([...tables])('include the table %s with the configured protection', (name, table) => {
    const policy = { staging: 'Delete', production: 'Retain' }[stage];
    const RecoveryPeriodInDays = { staging: 1, production: 35 }[stage];
    expect(table).toMatchObject({ DeletionPolicy: policy, UpdateReplacePolicy: policy });
    expect(table.Properties['Replicas']).toEqual([
      expect.objectContaining({
        DeletionProtectionEnabled: stage === 'production',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays },
        Tags: expect.arrayContaining([{ Key: 'stage', Value: stage }]),
      }),
    ]);
    // API keys also have an attribute `expiresAt`, but DynamoDB must not delete the records of expired keys.
    expect(table.Properties['TimeToLiveSpecification']).toEqual(
      name === 'StorageIdempotencyRecords' ? { AttributeName: 'expiresAt', Enabled: true } : undefined,
    );
  });

  // An index needs the same write limit as its table, because a lower limit would throttle writes to the table.
  test.each([...tables])('have throughput limits: %s', (_name, { Properties }) => {
    const { GlobalSecondaryIndexes: indexes = [], Replicas } = Properties;
    const { GlobalSecondaryIndexes: indexesOfReplica = [], ...replica } = Replicas[0];
    for (const { WriteOnDemandThroughputSettings } of [Properties, ...indexes])
      expect(WriteOnDemandThroughputSettings).toEqual({ MaxWriteRequestUnits: maxWriteUnitsPerSecond });
    expect(indexesOfReplica).toHaveLength(indexes.length);
    for (const target of [replica, ...indexesOfReplica]) {
      expect(target).toMatchObject({
        ReadOnDemandThroughputSettings: { MaxReadRequestUnits: maxReadUnitsPerSecond },
      });
    }
  });
});

// A template with a wrong type deploys, but DynamoDB rejects each item whose field has another type than the index key.
test.each([
  ['genre', 'S'],
  ['shelf', 'N'],
  ['genre-and-shelf', 'S'],
  ['list', 'S'],
])('the index key %s has the type %s', (name, type) => {
  expect(indexKey(books, name)).toEqual({ name, type });
});
