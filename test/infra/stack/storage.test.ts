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

  // CloudFormation replaces a table with an empty one if its logical id changes. Only new tables may change this list,
  // unless the data is migrated.
  test('keep their logical ids', () => {
    const ids = resourcesOf(stackTemplate(stage), TABLE).map(([id]) => id);
    const expected = ['Pets', 'Intents', 'ApiKeys'].map((name) => {
      const digest = hash('md5', `Storage/${name}/Resource`).slice(0, 8).toUpperCase();
      return `Storage${name}${digest}`;
    });
    expect(ids).toEqual(expected);
  });

  // CloudFormation also replaces a table if its key changes.
  test('keep the keys of each table and index', () => {
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

  // An index with less write capacity than its table would throttle writes to the table.
  test.each([...tables])('retain, back up and limit %s as configured', (name, table) => {
    const indexes: any[] = table.Properties['GlobalSecondaryIndexes'] ?? [];
    const policy = { staging: 'Delete', production: 'Retain' }[stage];
    const [replica, ...others] = table.Properties['Replicas'];
    expect(table).toMatchObject({
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
      Properties: { WriteOnDemandThroughputSettings: writes },
    });
    for (const index of indexes) expect(index.WriteOnDemandThroughputSettings).toEqual(writes);
    // API keys also have an attribute `expiresAt`, but their records must be kept.
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

// Pets are already stored in this many partitions. Raise the number with recordedListPartitions, and never lower it.
test.each([
  ['staging', 1],
  ['production', 1],
] as const)('new pets of %s are spread over at least %d list partitions', (stage, least) => {
  expect(stages[stage].recordedListPartitions).toBeGreaterThanOrEqual(least);
});
