import { expect, test } from '@jest/globals';
import { readable, readableTemplate, resourcesOf, stageNames } from '../support/stack-template.ts';
import { allSettings } from '../support/stages.ts';
import { variantTemplate } from './variants.ts';

// upgrades.test.ts tests what an update must not change: the logical ids, keys and indexes of the tables. constructs.test.ts
// tests the types of index keys.

const tablesOf = (template: Parameters<typeof resourcesOf>[0]): [id: string, table: any][] =>
  resourcesOf(template, 'AWS::DynamoDB::GlobalTable');

const protection = {
  staging: { onRemoval: 'Delete Delete', isProtected: false, recoveryDays: 1 },
  production: { onRemoval: 'Retain Retain', isProtected: true, recoveryDays: 35 },
};

test.each(stageNames)('all tables of %s have the configured protection', (stage) => {
  const found = tablesOf(readableTemplate(stage)).map(([id, table]) => {
    const [replica] = table.Properties.Replicas;
    const recovery = replica.PointInTimeRecoverySpecification;
    return [
      id,
      {
        onRemoval: `${table.DeletionPolicy} ${table.UpdateReplacePolicy}`,
        isProtected: replica.DeletionProtectionEnabled,
        recoveryDays: recovery.PointInTimeRecoveryEnabled && recovery.RecoveryPeriodInDays,
      },
    ];
  });
  expect(found.length).toBeGreaterThanOrEqual(3);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(found.map(([id]) => [id, protection[stage]])));
});

// API keys also have an attribute `expiresAt`, but DynamoDB must not delete the records of expired keys.
test('only idempotency records expire', () => {
  const expiring = tablesOf(readableTemplate('production')).flatMap(([id, { Properties }]) =>
    Properties.TimeToLiveSpecification ? [[id, Properties.TimeToLiveSpecification]] : [],
  );
  expect(expiring).toEqual([['StorageIdempotencyRecords', { AttributeName: 'expiresAt', Enabled: true }]]);
});

// An index needs the same write limit as its table, because a lower limit would throttle writes to the table.
test('every table and index has the configured throughput limits', () => {
  for (const [, { Properties }] of tablesOf(readableTemplate('production'))) {
    const { GlobalSecondaryIndexes: indexes = [], Replicas } = Properties;
    const { GlobalSecondaryIndexes: indexesOfReplica = [], ...replica } = Replicas[0];
    for (const { WriteOnDemandThroughputSettings } of [Properties, ...indexes])
      expect(WriteOnDemandThroughputSettings).toEqual({ MaxWriteRequestUnits: 200 });
    expect(indexesOfReplica).toHaveLength(indexes.length);
    for (const { ReadOnDemandThroughputSettings } of [replica, ...indexesOfReplica])
      expect(ReadOnDemandThroughputSettings).toEqual({ MaxReadRequestUnits: 1_000 });
  }
});

test('the warm throughput applies to the tables of items and their indexes, and to idempotency records', async () => {
  const { readUnitsPerSecond, writeUnitsPerSecond } = allSettings.warmThroughput;
  const warm = { ReadUnitsPerSecond: readUnitsPerSecond, WriteUnitsPerSecond: writeUnitsPerSecond };
  const found = tablesOf(readable(await variantTemplate('everySetting'))).map(([id, { Properties }]) => {
    const { GlobalSecondaryIndexes = [] } = Properties;
    return [id, [Properties, ...GlobalSecondaryIndexes].map(({ WarmThroughput }) => WarmThroughput)] as const;
  });
  const expected = found.map(([id, all]) => [
    id,
    all.map(() => (id === 'StorageApiKeys' ? undefined : warm)),
  ]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  expect(JSON.stringify(readableTemplate('production'))).not.toContain('WarmThroughput');
});
