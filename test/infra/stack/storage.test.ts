import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { readableTemplate, resourcesOf, stackTemplate, stageNames } from '../../support/stack-template.ts';

const TABLE = 'AWS::DynamoDB::GlobalTable';

describe.each(stageNames)('the tables of %s', (stage) => {
  const template = readableTemplate(stage);
  const tables = new Map(resourcesOf(template, TABLE));
  const { maxReadUnitsPerSecond, maxWriteUnitsPerSecond } = stages[stage];
  const reads = { MaxReadRequestUnits: maxReadUnitsPerSecond };
  const writes = { MaxWriteRequestUnits: maxWriteUnitsPerSecond };
  // Names the keys that were throttled.
  const insights = { Enabled: true, Mode: 'THROTTLED_KEYS' };

  // Literal, because a table whose logical id changes is replaced by an empty one and its data left behind. An id may
  // be added with a new table; none may change or be removed without a migration of its data.
  test('keep their logical ids', () => {
    const ids = resourcesOf(stackTemplate(stage), TABLE).map(([id]) => id);
    expect(ids.toSorted()).toEqual([
      'StorageApiKeys7B037C32',
      'StorageIntents0244ABA8',
      'StoragePets3FCA436D',
    ]);
  });

  // Literal too: CloudFormation replaces a table whose key changes.
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

  // An index with less capacity than its table would hold up the writes to the table.
  test.each([...tables])('keep, restore and limit %s as the stage promises', (name, table) => {
    const indexes: any[] = table.Properties['GlobalSecondaryIndexes'] ?? [];
    const policy = { staging: 'Delete', production: 'Retain' }[stage];
    const [replica, ...others] = table.Properties['Replicas'];
    expect(table).toMatchObject({
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
      Properties: { WriteOnDemandThroughputSettings: writes },
    });
    for (const index of indexes) expect(index.WriteOnDemandThroughputSettings).toEqual(writes);
    // An API key has a time `expiresAt` too, and its record stays.
    expect(table.Properties['TimeToLiveSpecification']).toEqual(
      name === 'StorageIntents' ? { AttributeName: 'expiresAt', Enabled: true } : undefined,
    );
    // A replica is the table in its region: here, and nowhere else.
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

// Pets are stored under this many keys of each index already. Raised with recordedListPartitions, never lowered.
test.each([
  ['staging', 1],
  ['production', 1],
] as const)('new pets of %s are spread over no fewer list partitions than before: %d', (stage, least) => {
  expect(stages[stage].recordedListPartitions).toBeGreaterThanOrEqual(least);
});
