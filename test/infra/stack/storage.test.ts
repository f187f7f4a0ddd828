import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { type StageName, stages } from '../../../infra/stages.ts';
import { agreeOnPetId } from '../../../shared/storage/intents.ts';
import { setEnvironment } from '../../support/environment.ts';
import { mock } from '../../support/mocked-database.ts';
import { resourcesOf, type Resource, stackTemplate, stageNames } from '../../support/stack-template.ts';

// Literal, as a table whose logical id changes is replaced by an empty one and its data left behind. An id may
// join this list with a new table; none may change or leave without a migration of its data.
const frozenIds = {
  pets: 'StoragePets3FCA436D',
  intents: 'StorageIntents0244ABA8',
  apiKeys: 'StorageApiKeys7B037C32',
};

describe.each(stageNames)('the tables of %s', (stage) => {
  const tables = new Map(tablesOf(stage));
  const pets = tables.get(frozenIds.pets)!;
  const intents = tables.get(frozenIds.intents)!;
  const apiKeys = tables.get(frozenIds.apiKeys)!;

  test('keep their logical ids', () => {
    expect([...tables.keys()].toSorted()).toEqual(Object.values(frozenIds).toSorted());
  });

  test('hold pets by their id', () => {
    expect(keyOf(pets, pets.Properties)).toEqual(['id: N']);
  });

  test('hold intents by the token of their request, and are asked for nothing else', () => {
    expect(keyOf(intents, intents.Properties)).toEqual(['token: S']);
    expect(intents.Properties['GlobalSecondaryIndexes']).toBeUndefined();
  });

  // A key has a time `expiresAt` too, and its record stays.
  test('lose intents some time after their end, and nothing else', () => {
    const timesToLive = [...tables].map(([id, { Properties }]) => [
      id,
      Properties['TimeToLiveSpecification'],
    ]);
    expect(Object.fromEntries(timesToLive)).toEqual({
      [frozenIds.pets]: undefined,
      [frozenIds.intents]: { AttributeName: 'expiresAt', Enabled: true },
      [frozenIds.apiKeys]: undefined,
    });
  });

  test('hold API keys by their hash, and list them in the order of ids with whole records', () => {
    expect(keyOf(apiKeys, apiKeys.Properties)).toEqual(['hash: S']);
    const indexes: any[] = apiKeys.Properties['GlobalSecondaryIndexes'];
    expect(indexes.map((index) => [index.IndexName, keyOf(apiKeys, index), index.Projection])).toEqual([
      ['newest', ['stage: S', 'keyId: S'], { ProjectionType: 'ALL' }],
    ]);
  });

  test('serve lists of pets from two indexes, each in the order of ids with whole pets', () => {
    const indexes: any[] = pets.Properties['GlobalSecondaryIndexes'];
    expect(indexes.map((index) => [index.IndexName, keyOf(pets, index), index.Projection])).toEqual([
      ['newest', ['partition: S', 'id: N'], { ProjectionType: 'ALL' }],
      ['newest-by-status', ['statusPartition: S', 'id: N'], { ProjectionType: 'ALL' }],
    ]);
  });

  describe.each([...tables])('%s', (_id, { Properties: properties }) => {
    const { maxReadUnitsPerSecond, maxWriteUnitsPerSecond } = stages[stage];
    const reads = { MaxReadRequestUnits: maxReadUnitsPerSecond };
    const writes = { MaxWriteRequestUnits: maxWriteUnitsPerSecond };
    const throttledKeys = { Enabled: true, Mode: 'THROTTLED_KEYS' };
    const indexes: any[] = properties['GlobalSecondaryIndexes'] ?? [];
    // A replica is the table in its region: here, and nowhere else.
    const [replica, ...others]: any[] = properties['Replicas'];
    const replicaIndexes: any[] = replica.GlobalSecondaryIndexes ?? [];

    test('is in the region of the stack alone', () => {
      expect(replica.Region).toEqual({ Ref: 'AWS::Region' });
      expect(others).toEqual([]);
    });

    test('is billed on demand, up to what the stage allows', () => {
      expect(properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        WriteOnDemandThroughputSettings: writes,
      });
      expect(replica.ReadOnDemandThroughputSettings).toEqual(reads);
    });

    test('tells which keys were throttled', () => {
      expect(replica.ContributorInsightsSpecification).toEqual(throttledKeys);
    });

    // An index that may take less than its table would hold up the writes to the table.
    test('has the same for each of its indexes', () => {
      expect(indexes.map((index) => [index.IndexName, index.WriteOnDemandThroughputSettings])).toEqual(
        indexes.map((index) => [index.IndexName, writes]),
      );
      expect(replicaIndexes).toEqual(
        indexes.map((index) => ({
          IndexName: index.IndexName,
          ReadOnDemandThroughputSettings: reads,
          ContributorInsightsSpecification: throttledKeys,
        })),
      );
    });

    test('can be restored to every second of as many days as the stage says', () => {
      expect(replica.PointInTimeRecoverySpecification).toEqual({
        PointInTimeRecoveryEnabled: true,
        RecoveryPeriodInDays: stages[stage].recoveryDays,
      });
    });
  });
});

describe('the end of an intent', () => {
  setEnvironment({ INTENTS_TABLE: 'intents' });
  const tables = new Map(tablesOf('production'));
  const timeToLive = tables.get(frozenIds.intents)?.Properties['TimeToLiveSpecification'];

  // The table takes any other number for a time long past or far away.
  test('is where the table looks for it, a day ahead in seconds since 1970', async () => {
    mock.on(PutCommand).resolves({});
    const earliest = Math.floor(Date.now() / 1_000) + 86_400;
    await agreeOnPetId('token', { name: 'Rex', categoryId: 7n }, 1n);
    const latest = Math.floor(Date.now() / 1_000) + 86_400;

    const [intent] = mock.commandCalls(PutCommand).map(({ args }) => args[0].input.Item);
    expect(intent?.[timeToLive.AttributeName]).toBeGreaterThanOrEqual(earliest);
    expect(intent?.[timeToLive.AttributeName]).toBeLessThanOrEqual(latest);
  });
});

describe('what protects the data', () => {
  test.each(tablesOf('production'))(
    '%s in production outlives the stack and can be restored for five weeks',
    (_id, table) => {
      expect(protectionOf(table)).toEqual({
        deleted: 'Retain',
        replaced: 'Retain',
        replicas: [{ deletionProtection: true, recoveryDays: 35 }],
      });
    },
  );

  test.each(tablesOf('staging'))('%s in staging goes with the stack, and has its last day', (_id, table) => {
    expect(protectionOf(table)).toEqual({
      deleted: 'Delete',
      replaced: 'Delete',
      replicas: [{ deletionProtection: false, recoveryDays: 1 }],
    });
  });
});

function tablesOf(stage: StageName): [logicalId: string, table: Resource][] {
  return resourcesOf(stackTemplate(stage), 'AWS::DynamoDB::GlobalTable');
}

/** The key of a table or an index as `name: type`, partition key first. */
function keyOf({ Properties }: Resource, { KeySchema }: Record<string, any>): string[] {
  const types = new Map<string, string>(
    Properties['AttributeDefinitions'].map((attribute: any) => [
      attribute.AttributeName,
      attribute.AttributeType,
    ]),
  );
  return ['HASH', 'RANGE'].flatMap((keyType) =>
    KeySchema.filter((key: any) => key.KeyType === keyType).map(
      ({ AttributeName: name }: any) => `${name}: ${types.get(name)}`,
    ),
  );
}

function protectionOf({ Properties, DeletionPolicy, UpdateReplacePolicy }: Resource): object {
  return {
    deleted: DeletionPolicy,
    replaced: UpdateReplacePolicy,
    replicas: Properties['Replicas'].map((replica: any) => ({
      deletionProtection: replica.DeletionProtectionEnabled,
      recoveryDays: replica.PointInTimeRecoverySpecification.RecoveryPeriodInDays,
    })),
  };
}

// Pets lie under so many keys of each index already. Raised with recordedListPartitions, never lowered.
test.each([
  ['staging', 1],
  ['production', 1],
] as const)('new pets of %s go under no fewer list partitions than they ever did: %d', (stage, least) => {
  expect(stages[stage].recordedListPartitions).toBeGreaterThanOrEqual(least);
});
