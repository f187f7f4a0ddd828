import { expect, test } from '@jest/globals';
import { contentsOf } from '../../../infra/documents/cost/contents.ts';
import { exampleTable } from '../../../infra/documents/cost/cost.ts';
import { stages } from '../../../infra/stages.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { pascalCase } from '../../../shared/names.ts';

const items = `Storage${pascalCase(collections[0].plural)}`;

const metric = (Id: string) => ({ Id, MetricStat: {} });
const table = (...indexes: string[]) => ({
  Type: 'AWS::DynamoDB::GlobalTable',
  Properties: {
    KeySchema: [{ KeyType: 'HASH' }],
    GlobalSecondaryIndexes: indexes.map((IndexName) => ({
      IndexName,
      KeySchema: [{ KeyType: 'HASH' }, { KeyType: 'RANGE' }],
    })),
    Replicas: [{ ContributorInsightsSpecification: { Enabled: true } }],
  },
});

test('the cost of a stage depends on the metrics of its alarms, not on their expressions, and on all keys of its tables', () => {
  const contents = contentsOf({
    Resources: {
      ApiLatency: { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Latency' } },
      ApiErrors: {
        Type: 'AWS::CloudWatch::Alarm',
        Properties: {
          Metrics: [metric('part'), metric('total'), { Id: 'excess', Expression: 'part - total' }],
        },
      },
      // An index of this table must not count as an index of the first collection's table.
      [`${items}Copies0A1B2C3D`]: table('newest'),
      [`${items}4E5F6A7B`]: table('newest', 'newest-by-genre'),
      StorageApiKeys8C9D0E1F: table(),
      Firewall: { Type: 'AWS::WAFv2::WebACL', Properties: { Rules: [{}, {}] } },
      ListItems: { Type: 'AWS::Lambda::Function', Properties: { MemorySize: 512 } },
    },
  });
  expect(contents).toEqual({
    alarmMetrics: 3,
    // The keys of three tables (1 each) and three indexes (2 each).
    insightRules: 9,
    webAcls: 1,
    webAclRules: 2,
    indexes: 2,
    functionMegabytes: 512,
  });
});

test('the example adds up dollars, and applies lower prices only to the units above a threshold', () => {
  const stage = { ...stages.production, name: 'production' };
  const rows = exampleTable({
    stage: {
      ...stage,
      logRetentionDays: 365,
      authorizerCacheSeconds: 60,
      listPartitions: [{ since: '2025-01-01T00:00:00Z', count: 1 }],
    },
    alarmMetrics: 44,
    insightRules: 9,
    webAcls: 1,
    webAclRules: 5,
    indexes: 2,
    functionMegabytes: 512,
  }).split('\n');
  const expected = [
    // 2,628 million requests: 333 × 3.50 + 667 × 2.80 + 1,628 × 2.38
    '| API Gateway requests |  | 91.98 | 6,907.74 |',
    // 2,628,000 s × 10/s × 600 bytes ÷ 2^30 = 14.685 GB, of which 0.2 × 12 months × 0.03
    '| CloudWatch log storage |  | 1.06 | 105.73 |',
    // 44 × 0.10 + 9 × 0.50 + 5 + 5 × 1
    '| **total of these rows** | **18.90** | **147.47** | **10,492.03** |',
    // 26.28 million × (0.8 × 0.5 + 0.15), and 100 keys × 2,628,000 s ÷ (60 s + 10 s)
    '| + DynamoDB read units, million |  | 18.21 | 1,449.77 |',
    // 1.314 million creates × (2 + 0.9), and 0.657 million records
    '| + DynamoDB write units, million |  | 4.47 | 446.76 |',
  ];
  expect(rows).toEqual(expect.arrayContaining(expected));
});
