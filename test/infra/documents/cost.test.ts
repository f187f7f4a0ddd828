import { expect, test } from '@jest/globals';
import { contentsOf } from '../../../infra/documents/cost/contents.ts';
import { exampleTable } from '../../../infra/documents/cost/cost.ts';
import { stages } from '../../../infra/stages.ts';

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
      StorageBooks1: table('newest', 'newest-by-genre'),
      StorageFilms2: table('newest'),
      StorageApiKeys3: table(),
      Firewall: { Type: 'AWS::WAFv2::WebACL', Properties: { Rules: [{}, {}] } },
      ListBooks: { Type: 'AWS::Lambda::Function', Properties: { MemorySize: 512 } },
    },
  });
  expect(contents).toEqual({
    alarmMetrics: 3,
    // The keys of the books (1), of their indexes (2 each), of the films (1), of their index (2) and of the API keys (1).
    insightRules: 9,
    webAcls: 1,
    webAclRules: 2,
    itemIndexes: 2,
    functionMegabytes: 512,
  });
});

test('the example adds up dollars, and applies lower prices only to the units above a threshold', () => {
  const stage = { ...stages.production, name: 'production' };
  const rows = exampleTable({
    stage: { ...stage, logRetentionDays: 365, authorizerCacheSeconds: 60, listPartitions: 1 },
    alarmMetrics: 44,
    insightRules: 9,
    webAcls: 1,
    webAclRules: 5,
    itemIndexes: 2,
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
