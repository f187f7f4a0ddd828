import { describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { stages } from '../../../infra/stages.ts';
import { readableTemplate, resourcesOf, stackTemplate, stageNames } from '../../support/stack-template.ts';

const TABLE = 'AWS::DynamoDB::GlobalTable';

describe.each(stageNames)('the tables of %s', (stage) => {
  const template = readableTemplate(stage);
  const tables = new Map(resourcesOf(template, TABLE));
  const { maxReadUnitsPerSecond, maxWriteUnitsPerSecond } = stages[stage];
  const reads = { MaxReadRequestUnits: maxReadUnitsPerSecond };
  const writes = { MaxWriteRequestUnits: maxWriteUnitsPerSecond };
  const insights = { Enabled: true, Mode: 'THROTTLED_KEYS' };

  // If a table's logical id changes, CloudFormation replaces the table with an empty table. Before you change or remove
  // an id in this list, migrate the table's data.
  test('keep their logical ids', () => {
    const ids = resourcesOf(stackTemplate(stage), TABLE).map(([id]) => id);
    const expected = ['Pets', 'Intents', 'ApiKeys'].map((name) => {
      const digest = hash('md5', `Storage/${name}/Resource`).slice(0, 8).toUpperCase();
      return `Storage${name}${digest}`;
    });
    expect(ids).toEqual(expected);
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
    expect(keys).toEqual([
      'StoragePets table: HASH id N',
      'StoragePets newest: HASH partition S, RANGE id N',
      'StoragePets newest-by-status: HASH statusPartition S, RANGE id N',
      'StorageIntents table: HASH token S',
      'StorageApiKeys table: HASH hash S',
      'StorageApiKeys newest: HASH stage S, RANGE keyId S',
    ]);
  });

  // An index needs the same write limit as its table, because a lower limit would throttle writes to the table.
  test.each([...tables])('include the table %s with the configured protection and limits', (name, table) => {
    const indexes: any[] = table.Properties['GlobalSecondaryIndexes'] ?? [];
    const policy = { staging: 'Delete', production: 'Retain' }[stage];
    const [replica, ...others] = table.Properties['Replicas'];
    expect(table).toMatchObject({
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
      Properties: { WriteOnDemandThroughputSettings: writes },
    });
    for (const index of indexes) expect(index.WriteOnDemandThroughputSettings).toEqual(writes);
    // API keys also have an attribute `expiresAt`, but DynamoDB must not delete the records of expired keys.
    expect(table.Properties['TimeToLiveSpecification']).toEqual(
      name === 'StorageIntents' ? { AttributeName: 'expiresAt', Enabled: true } : undefined,
    );
    expect(others).toEqual([]);
    expect(replica).toMatchObject({
      Region: '${AWS::Region}',
      DeletionProtectionEnabled: stage === 'production',
      PointInTimeRecoverySpecification: {
        PointInTimeRecoveryEnabled: true,
        RecoveryPeriodInDays: { staging: 1, production: 35 }[stage],
      },
      ReadOnDemandThroughputSettings: reads,
      ContributorInsightsSpecification: insights,
    });
    expect(replica.GlobalSecondaryIndexes ?? []).toEqual(
      indexes.map(({ IndexName }) => ({
        IndexName,
        ReadOnDemandThroughputSettings: reads,
        ContributorInsightsSpecification: insights,
      })),
    );
  });
});

// The minimum is the number of partitions that contain pets. Raise this minimum when you raise recordedListPartitions.
test.each([
  ['staging', 1],
  ['production', 1],
] as const)('%s spreads new pets over at least %d list partitions', (stage, least) => {
  expect(stages[stage].recordedListPartitions).toBeGreaterThanOrEqual(least);
});
