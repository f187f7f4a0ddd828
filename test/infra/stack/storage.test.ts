import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { agreeOnPetId } from '../../../shared/storage/intents.ts';
import { mock, setEnvironment } from '../../support/mocked-database.ts';
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
  test.each([
    [
      'StoragePets',
      ['id: N', 'partition: S', 'statusPartition: S'],
      {
        table: ['HASH id'],
        newest: ['HASH partition', 'RANGE id'],
        'newest-by-status': ['HASH statusPartition', 'RANGE id'],
      },
    ],
    ['StorageIntents', ['token: S'], { table: ['HASH token'] }],
    [
      'StorageApiKeys',
      ['hash: S', 'stage: S', 'keyId: S'],
      { table: ['HASH hash'], newest: ['HASH stage', 'RANGE keyId'] },
    ],
  ])('keep the keys of %s and its indexes', (name, types, keys) => {
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] } = tables.get(name)!.Properties;
    const definitions: any[] = AttributeDefinitions;
    expect(
      definitions.map(({ AttributeName, AttributeType }) => `${AttributeName}: ${AttributeType}`),
    ).toEqual(types);
    const found = [{ IndexName: 'table', KeySchema }, ...GlobalSecondaryIndexes].map((index) => [
      index.IndexName,
      index.KeySchema.map(({ AttributeName, KeyType }: any) => `${KeyType} ${AttributeName}`),
    ]);
    expect(Object.fromEntries(found)).toEqual(keys);
  });

  // An API key has a time `expiresAt` too, and its record stays.
  test('delete intents some time after their end, and nothing else', () => {
    const timesToLive = [...tables].map(([name, { Properties }]) => [
      name,
      Properties['TimeToLiveSpecification'],
    ]);
    expect(Object.fromEntries(timesToLive)).toEqual({
      StorageIntents: { AttributeName: 'expiresAt', Enabled: true },
    });
  });

  test.each([...tables])('keep and restore the data of %s as the stage promises', (_name, table) => {
    expect(table).toMatchObject(
      {
        staging: { DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' },
        production: { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' },
      }[stage],
    );
    // A replica is the table in its region: here, and nowhere else.
    expect(table.Properties['Replicas']).toMatchObject([
      {
        Region: '${AWS::Region}',
        DeletionProtectionEnabled: stage === 'production',
        PointInTimeRecoverySpecification: {
          PointInTimeRecoveryEnabled: true,
          RecoveryPeriodInDays: { staging: 1, production: 35 }[stage],
        },
      },
    ]);
  });

  // An index with less capacity than its table would hold up the writes to the table.
  test.each([...tables])('bill %s and its indexes on demand, up to what the stage allows', (_name, table) => {
    const { GlobalSecondaryIndexes: indexes = [], ...properties } = table.Properties;
    const [replica] = properties['Replicas'];
    expect(properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      WriteOnDemandThroughputSettings: writes,
    });
    expect(replica).toMatchObject({
      ReadOnDemandThroughputSettings: reads,
      ContributorInsightsSpecification: insights,
    });
    for (const index of indexes) {
      expect(index).toMatchObject({
        Projection: { ProjectionType: 'ALL' },
        WriteOnDemandThroughputSettings: writes,
      });
    }
    expect(replica.GlobalSecondaryIndexes ?? []).toEqual(
      indexes.map(({ IndexName }: any) => ({
        IndexName,
        ReadOnDemandThroughputSettings: reads,
        ContributorInsightsSpecification: insights,
      })),
    );
  });
});

setEnvironment({ INTENTS_TABLE: 'intents' });

// The table would take any other number for a time long past or far away.
test('an intent has its end where the table reads it, a day ahead in seconds since 1970', async () => {
  mock.on(PutCommand).resolves({});
  const earliest = Math.floor(Date.now() / 1_000) + 86_400;
  await agreeOnPetId('token', { name: 'Rex', categoryId: 7n }, 1n);
  const latest = Math.floor(Date.now() / 1_000) + 86_400;

  const [intent] = mock.commandCalls(PutCommand).map(({ args }) => args[0].input.Item);
  expect(intent?.['expiresAt']).toBeGreaterThanOrEqual(earliest);
  expect(intent?.['expiresAt']).toBeLessThanOrEqual(latest);
});

// Pets are stored under this many keys of each index already. Raised with recordedListPartitions, never lowered.
test.each([
  ['staging', 1],
  ['production', 1],
] as const)('new pets of %s are spread over no fewer list partitions than before: %d', (stage, least) => {
  expect(stages[stage].recordedListPartitions).toBeGreaterThanOrEqual(least);
});
