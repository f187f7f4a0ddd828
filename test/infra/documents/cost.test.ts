import { describe, expect, test } from '@jest/globals';
import { contentsOf } from '../../../infra/documents/cost/contents.ts';
import {
  exampleTable,
  floodTable,
  idleTable,
  monthlyCost,
  totalTable,
  traceTable,
} from '../../../infra/documents/cost/cost.ts';
import { itemSize, usageOf } from '../../../infra/documents/cost/usage.ts';
import { books } from '../../support/books.ts';
import { templateNumbers } from '../../support/stage-contents.ts';
import { stages } from '../../support/stages.ts';

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
const weekOfBackups = { Lifecycle: { DeleteAfterDays: 7 }, CopyActions: [] };
const resources = {
  ApiLatency: { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Latency' } },
  ApiErrors: {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: { Metrics: [metric('part'), metric('total'), { Id: 'excess', Expression: 'part - total' }] },
  },
  Stage: {
    Type: 'AWS::ApiGateway::Stage',
    Properties: {
      AccessLogSetting: { Format: '{"id":"$context.requestId","key":"$context.authorizer.keyId"}' },
    },
  },
  Dashboard: { Type: 'AWS::CloudWatch::Dashboard', Properties: {} },
  StorageItems: table('newest', 'newest-by-genre'),
  StorageApiKeys: table(),
  Firewall: { Type: 'AWS::WAFv2::WebACL', Properties: { Rules: [{}, {}] } },
  ListItems: { Type: 'AWS::Lambda::Function', Properties: { MemorySize: 512 } },
  SamplingRule: { Type: 'AWS::XRay::SamplingRule', Properties: { SamplingRule: { ReservoirSize: 2 } } },
  BackupPlan: {
    Type: 'AWS::Backup::BackupPlan',
    Properties: {
      BackupPlan: {
        BackupPlanRule: [{ ...weekOfBackups, CopyActions: [{ Lifecycle: { DeleteAfterDays: 35 } }] }],
      },
    },
  },
};

test('the cost of a stage depends on the metrics of its alarms without their expressions, and on the keys of its tables and indexes', () => {
  expect(contentsOf({ Resources: resources })).toEqual({
    alarmMetrics: 3,
    // Each key has a rule. Two tables have one key each, and two indexes have two keys each.
    insightRules: 6,
    webAcls: 1,
    webAclRules: 2,
    dashboards: 1,
    // {"id":"","key":""} has 18 bytes, a request id 36, and the id of a key 24. Without a key, API Gateway logs a dash.
    accessLogBytes: { list: 18 + 36 + 24, anonymous: 18 + 36 + 1 },
    functionMegabytes: 512,
    tracesPerSecond: 2,
    backupDays: 42,
  });
});

const stage = {
  ...stages.production,
  name: 'production',
  requestsPerSecond: 1_000,
  authorizerCacheSeconds: 60,
  tracedShare: 0.01,
  logRetentionDays: 365,
};
const contents = { stage, ...templateNumbers };
const item = { bytes: 165, indexShares: [1, 0.9] };
const onlyLists = { lists: 1, gets: 0, creates: 0 };
const onlyCreates = { lists: 0, gets: 0, creates: 1 };

/** Returns the cells of the example that are not empty, in the row of a charge. */
function example(charge: string): string[] {
  const rows = exampleTable(contents).split('\n');
  return rows.find((row) => row.startsWith(`| ${charge} |`))!.match(/\d[\d,.]*(?= \|)/g)!;
}

describe('the page of costs', () => {
  test.each([
    // 2,628 million requests: 333 × 3.50 + 667 × 2.80 + 1,628 × 2.38
    ['API Gateway requests', ['91.98', '6,907.74']],
    // 26.28 million requests × (0.8 × 0.5 + 0.15), and 100 keys × 2,628,000 s ÷ (60 s + 10 s), each × 0.125 per million
    ['DynamoDB reads', ['2.28', '181.22']],
    // 26.28 million requests × 650 bytes ÷ 2^30 × 0.50
    ['CloudWatch access log', ['7.95', '795.44']],
    // 26.28 million requests × (0.01 × 9 + 1) ÷ 10, × 5 per million
    ['X-Ray traces', ['14.32', '144.41']],
    ['CloudWatch alarm metrics', ['4.40', '4.40', '4.40']],
    ['CloudWatch dashboards', ['3.00', '3.00', '3.00']],
  ])('contains the dollars of the charge %s', (charge, dollars) => {
    expect(example(charge)).toEqual(dollars);
  });

  test('has totals that are the sums of all rows', () => {
    const rows = exampleTable(contents).trimEnd().split('\n').slice(2);
    const cents = rows.map((row) =>
      row
        .split('|')
        .slice(2, -1)
        .map((cell) => Math.round(100 * Number(cell.replaceAll(/[^\d.]/g, '')))),
    );
    const totals = cents.pop()!;
    for (const [column, total] of totals.entries()) {
      const sum = cents.reduce((dollars, row) => dollars + row[column]!, 0);
      // Each row is rounded to a cent, so the sum can differ slightly from the total.
      expect(Math.abs(sum - total)).toBeLessThanOrEqual(rows.length / 2);
    }
    // 44 alarm metrics × 0.10, 9 rules of Contributor Insights × 0.50, a dashboard for 3, a web ACL for 5, and its 5 rules × 1
    expect(totals[0]).toBe(2_190);
  });

  test('shows which units an idle stage pays for', () => {
    const noFirewall = { ...contents, webAcls: 0, webAclRules: 0 };
    const rows = idleTable([contents, noFirewall]).trimEnd().split('\n').slice(2);
    expect(rows).toEqual([
      '| CloudWatch alarm metrics | 44 × 0.10 = 4.40 | 44 × 0.10 = 4.40 |',
      '| CloudWatch rules of Contributor Insights | 9 × 0.50 = 4.50 | 9 × 0.50 = 4.50 |',
      '| CloudWatch dashboards | 1 × 3.00 = 3.00 | 1 × 3.00 = 3.00 |',
      '| WAF web ACLs | 1 × 5.00 = 5.00 |  |',
      '| WAF rules of the web ACL | 5 × 1.00 = 5.00 |  |',
      '| **total** | **21.90** | **11.90** |',
    ]);
  });

  test('has a dash instead of a total at rates that the settings of a stage do not allow', () => {
    const small = { ...contents, stage: { ...stage, name: 'small', requestsPerSecond: 999 } };
    const lines = totalTable([small, contents]).trimEnd().split('\n');
    expect(lines.at(0)).toBe('| Dollars per month | small | production |');
    expect(lines.at(2)).toBe('| without requests | 21.90 | 21.90 |');
    expect(lines.at(4)).toMatch(/^\| 1,000 requests\/s \| – \| [\d,]+\.\d\d \|$/);
  });

  test('shows what a flood from one IP address costs, up to the limit of a blocking firewall', () => {
    const small = {
      ...contents,
      stage: { ...stage, requestsPerSecond: 7, firewall: stages.staging.firewall },
    };
    const rows = floodTable([contents, small]).split('\n');
    const cells = (charge: string) =>
      rows.find((row) => row.startsWith(`| ${charge} |`))!.match(/\d[\d,.]*(?=\**? \|)/g);
    // 6,000 requests per minute, or 7 per second: 262.8 and 18.396 million × 3.50
    expect(cells('API Gateway requests')).toEqual(['919.80', '64.39']);
    expect(cells('WAF requests')).toEqual(['157.68', '11.04']);
    // 262.8 and 18.396 million × 550 bytes ÷ 2^30 × 0.50
    expect(cells('CloudWatch access log')).toEqual(['67.31', '4.71']);
    // 2.628 million seconds × (1 + 0.01 × 99) and × (1 + 0.01 × 6), each × 5 per million
    expect(cells('X-Ray traces')).toEqual(['26.15', '13.93']);
    expect(rows.join()).not.toMatch(/Lambda|DynamoDB|alarm|dashboard/);
    // A month has 365 ÷ 12 days. 1,000 requests per second cost 6,907.74 (API Gateway) and 1,576.80 (WAF) a month.
    const [month, day, worst] = ['total', 'total per day', 'per day, many addresses'].map((name) =>
      rows
        .find((row) => row.startsWith(`| **${name}**`))!
        .match(/\d[\d,.]*/g)!
        .map((cell) => Number(cell.replaceAll(',', ''))),
    );
    expect((day![0]! * 365) / 12).toBeCloseTo(month![0]!, 0);
    expect(worst![0]!).toBeGreaterThan(((6_907.74 + 1_576.8) * 12) / 365);
    // Without a blocking firewall, one address can send as many requests as many addresses.
    expect(worst![1]).toBe(day![1]);
  });

  test('shows what traces cost by tracedShare', () => {
    expect(traceTable(contents)).toContain('| 0 | 13.14 | 13.14 |');
    // 2.628 million seconds × (1 + 0.05 × 999) × 5 per million
    expect(traceTable(contents)).toContain('| 0.05 | 19.05 | 669.48 |');
  });
});

describe('the usage of a workload', () => {
  test('depends on its mix, its items and its list partitions', () => {
    const lists = usageOf({ requestsPerSecond: 10, item, mix: onlyLists, listPartitions: 16 }, contents);
    // 26.28 million lists × 8, and the authorizer's reads
    expect(lists.readUnits / 1e6).toBeCloseTo(210.24 + 3.754, 2);
    // The one custom metric is ActiveKeyRequests.
    expect(lists).toMatchObject({ writeUnits: 0, storedGb: 0, functionLogGb: 0, customMetrics: 1 });
    const creates = usageOf({ requestsPerSecond: 10, item, mix: onlyCreates, storedItems: 1e9 }, contents);
    // 26.28 million creates × (2 + 0.9), and half as many records
    expect(creates.writeUnits / 1e6).toBeCloseTo(76.212 + 13.14, 3);
    // A billion items × 265 bytes × 2.9, and 3 days of 432,000 records × 355 bytes
    expect(creates.storedGb).toBeCloseTo(715.72 + 0.43, 1);
    expect(creates.customMetrics).toBe(2);
  });

  test('contains the items of 12 months if the workload does not say how many are stored', () => {
    // 12 × 0.05 × 2.628 million items × 265 bytes × 2.9, and 3 days of 2,160 records × 355 bytes
    expect(usageOf({ requestsPerSecond: 1, item }, contents).storedGb).toBeCloseTo(1.12855 + 0.00214, 4);
  });

  test('contains backups for the days for which they are kept', () => {
    const workload = { requestsPerSecond: 0, item, storedItems: 2 ** 30 };
    // The table contains 265 GB of items. 42 daily backups are kept, and each costs 0.10 dollars per GB and month.
    const [without, some] = [0, 42].map((backupDays) => monthlyCost(workload, { ...contents, backupDays }));
    expect(some! - without!).toBeCloseTo(265 * 42 * 0.1, 5);
  });
});

test('a month of 100,000 requests per second is charged at the lower prices of high tiers', () => {
  const [none, some] = [0, 100_000].map((requestsPerSecond) =>
    monthlyCost({ requestsPerSecond, item, mix: onlyCreates, storedItems: 0, tracedShare: 0 }, contents),
  );
  const million = 262_800;
  const gigabytes = (bytes: number) => (million * 1e6 * bytes) / 2 ** 30;
  const authorizer = (100 * 2_628_000) / (60 + 0.001) / 1e6;
  const records = (3 * 0.5 * 86_400 * 1e5 * 355) / 2 ** 30;
  const [access, functions, responses] = [650, 220, 670].map(gigabytes) as [number, number, number];
  const expected =
    // API Gateway, Lambda's invocations and duration
    333 * 3.5 +
    667 * 2.8 +
    19_000 * 2.38 +
    (million - 20_000) * 1.51 +
    (million + authorizer) * 0.2 +
    ((million + authorizer) * 8e3 + (million / 2) * 6e3) * 0.5 * 0.0000133334 +
    // DynamoDB's reads, writes, storage and recovery
    authorizer * 0.125 +
    million * (2.9 + 0.5) * 0.625 +
    records * (0.25 + 0.2) +
    // the access log, function logs, the storage of both, two metrics and traces
    access * 0.5 +
    10_240 * 0.5 +
    20_480 * 0.25 +
    20_480 * 0.1 +
    (functions - 51_200) * 0.05 +
    (access + functions) * 0.2 * 12 * 0.03 +
    2 * 0.3 +
    2.628 * 5 +
    // the firewall and the transfer of responses
    million * 0.6 +
    10_240 * 0.09 +
    40_960 * 0.085 +
    102_400 * 0.07 +
    (responses - 153_600) * 0.05;
  expect(some! - none!).toBeCloseTo(expected, 1);
});

test('an index contains all items if its filters are required fields, and otherwise the items that have these fields', () => {
  // Genre is optional, and shelf is required. Items have the keys partition = 0, genrePartition = crime#0 and
  // genre-shelfPartition = crime#7#0.
  expect(itemSize(books)).toEqual({ bytes: 129 + 10 + 21 + 29, indexShares: [1, 0.9, 0.9] });
  const filterCombinations = [[], ['shelf']];
  expect(itemSize({ ...books, filterCombinations }).indexShares).toEqual([1, 1]);
});

// The runbook adds an index in one deployment, and its filter in a later one.
test('the size of an item includes an index even if lists do not support its filter yet', () => {
  expect(itemSize({ ...books, filters: {} })).toMatchObject({ indexShares: [1, 0.9, 0.9] });
});
