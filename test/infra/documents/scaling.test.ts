import { expect, test } from '@jest/globals';
import type { StageContents } from '../../../infra/documents/cost/contents.ts';
import { scaleTable } from '../../../infra/documents/scaling.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { stages } from '../../support/stages.ts';

const production: StageContents = {
  stage: {
    ...stages.production,
    name: 'production',
    listPartitions: [{ since: '2025-01-01T00:00:00Z', count: 1 }],
    requestsPerSecond: 1_000,
    createsPerSecond: 400,
    maxReadUnitsPerSecond: 20_000,
    maxWriteUnitsPerSecond: 4_000,
    firewall: { action: 'block', requestsPerMinutePerIp: 6_000, requestsPerMinutePerKey: 30_000 },
  },
  alarmMetrics: 44,
  insightRules: 9,
  webAcls: 1,
  webAclRules: 5,
  dashboards: 1,
  functionMegabytes: 512,
  tracesPerSecond: 1,
  backupDays: 0,
};

/** Returns the cells of the table's rows by the rate in the first cell. */
function rowsOf(table: string): Map<string, string[]> {
  const lines = table.trimEnd().split('\n').slice(2);
  const cells = lines.map((line) => line.slice(2, -2).split(' | '));
  return new Map(cells.map(([rate, ...others]) => [rate!, others]));
}

const newest = `**newest ${collections[0].plural}**`;

test.each([
  ['10', ['–', '–', '–', '–']],
  ['100', [...Array.from({ length: 3 }, () => 'Lambda in a new account (100)'), 'quotas']],
  [
    '1,000',
    ['`requestsPerSecond` (1,000)', '`createsPerSecond` (400)', '–', 'list partitions: 3 (creates); rates'],
  ],
  [
    '10,000',
    [
      `${newest} (6,000)`,
      'list partitions (3,000)',
      `\`requestsPerSecond\` (1,250), ${newest} (7,500)`,
      'quotas; warm throughput; list partitions: 25 (creates), 2 (mixed); maxima; rates',
    ],
  ],
  [
    '100,000',
    [
      'warm reads (24,000)',
      'list partitions (25,000)',
      'warm reads (15,000)',
      'quotas; warm throughput; list partitions: 250 (creates), 13 (mixed); maxima; rates',
    ],
  ],
])('a stage with %s requests per second reaches these limits and needs these steps', (rate, expected) => {
  expect(rowsOf(scaleTable(production, 400)).get(rate)!.slice(0, 4)).toEqual(expected);
});

test('the dollars of lists, creates and mixed requests increase with the rate', () => {
  const dollars = [...rowsOf(scaleTable(production, 400)).values()].map((cells) =>
    cells[4]!.split(' / ').map((text) => Number(text.replaceAll(',', ''))),
  );
  expect(dollars[0]).toHaveLength(3);
  for (const [row, values] of dollars.slice(1).entries()) {
    for (const [column, value] of values.entries()) {
      expect(value).toBeGreaterThan(2 * dollars[row]![column]!);
      expect(value).toBeLessThan(12 * dollars[row]![column]!);
    }
  }
});

test('a stage with more list partitions needs no further ones until they are used up, and pays and reads more for lists', () => {
  const { stage } = production;
  const listPartitions = [...stage.listPartitions, { since: '2026-01-01T00:00:00Z', count: 16 }];
  const rows = rowsOf(scaleTable({ ...production, stage: { ...stage, listPartitions } }, 400));
  expect(rows.get('1,000')![3]).toBe('rates');
  // 12,000 read units ÷ 16 ÷ 0.5
  expect(rows.get('10,000')![0]).toBe(`warm reads (1,500), ${newest} (6,000)`);
  const listDollars = (all: typeof rows) => parseFloat(all.get('1,000')![4]!.replaceAll(',', ''));
  expect(listDollars(rows)).toBeGreaterThan(1.1 * listDollars(rowsOf(scaleTable(production, 400))));
});
