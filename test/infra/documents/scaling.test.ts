import { expect, test } from '@jest/globals';
import { type StageSettings, stagesOf } from '../../../infra/settings.ts';
import { largestItemBytes } from '../../../infra/capacity.ts';
import type { StageContents } from '../../../infra/documents/cost/contents.ts';
import { chanceThatFits, presentTable, scaleTable } from '../../../infra/documents/scaling.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { templateNumbers } from '../../support/stage-contents.ts';
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
  ...templateNumbers,
};

const listPartitions = [...production.stage.listPartitions, { since: '2026-01-01T00:00:00Z', count: 64 }];
const larger = { ...production, stage: { ...production.stage, listPartitions } };
const tables = { production: scaleTable(production, 2), larger: scaleTable(larger, 2) };

/** Returns the cells after the rate and the traffic in a row of a table. */
function row(rate: string, traffic: string, of: keyof typeof tables = 'production'): string[] {
  const rows = tables[of].split('\n').map((line) => line.slice(2, -2).split(' | '));
  return rows.find((cells) => cells[0] === rate && cells[1] === traffic)!.slice(2);
}

const newest = `newest ${collections[0].plural}`;

test.each([
  ['10', 'lists', '–', '–'],
  ['1,000', 'lists', '–', '–'],
  // 1,000 creates × 2 write units ÷ 0.8 are 2,500 write units, of which each list partition accepts 1,000.
  [
    '1,000',
    'creates',
    '`createsPerSecond` (400)',
    expect.stringMatching(/^(.* writes; )?\d list partitions; `createsPerSecond` 1,000; `createBurst` 250$/),
  ],
  ['1,000', 'mixed', '–', '–'],
  // 3,000 read units ÷ 0.5
  [
    '10,000',
    'lists',
    '`requestsPerSecond` (1,000)',
    `**at most 6,000** (${newest}): \`requestsPerSecond\` 6,000; \`requestBurst\` 5,000`,
  ],
  [
    '10,000',
    'mixed',
    '`requestsPerSecond` (1,250)',
    `**at most 7,500** (${newest}): Lambda 1,100; \`requestsPerSecond\` 6,000; \`requestBurst\` 5,000`,
  ],
  ['100,000', 'creates', '`createsPerSecond` (400)', 'not possible with up to 256 list partitions'],
])(
  'the table shows which limit %s requests per second reach first if they are %s, and which steps raise the limits',
  (rate, traffic, first, steps) => {
    expect(row(rate, traffic).slice(0, 2)).toEqual([first, steps]);
  },
);

test('the table of present settings shows the rate at which each mix reaches its first limit, and names this limit', () => {
  const [usual, , longPages] = presentTable(production).trimEnd().split('\n').slice(2);
  // 1,000 lists ÷ 0.8
  expect(usual).toMatch(
    / \| 1,000 \(`requestsPerSecond`\) \| 400 \(`createsPerSecond`\) \| 1,250 \(`requestsPerSecond`\) \|$/,
  );
  const largest = largestItemBytes(collections[0]);
  const lists = Math.floor(3_000 / (0.5 * Math.ceil((101 * largest) / 4_096)));
  expect(longPages).toContain(
    `| lists of 100 ${collections[0].plural} of ${largest.toLocaleString('en')} bytes | `,
  );
  expect(longPages).toContain(` | ${lists} (${newest}) | 400 `);
});

test('10,000 creates per second need quotas, warm throughput, maxima, list partitions and rates, in this order', () => {
  const [first, steps] = row('10,000', 'creates');
  expect(first).toBe('`createsPerSecond` (400)');
  // 1.2 × (10,000 ÷ 10 + 2,500 waiting creates), and 10,000 × 2 units ÷ 0.8
  expect(steps).toMatch(
    /^Lambda 4,200; API Gateway 12,000; (?:table \d\d,\d00; )?`warmThroughput` 12,000 reads and \d\d,000 writes; `maxReadUnitsPerSecond` \d\d,\d00; `maxWriteUnitsPerSecond` 25,000; \d+ list partitions; `createsPerSecond` 10,000; `createBurst` 2,500; `requestsPerMinutePerIp` 7,200$/,
  );
});

test.each([
  ['1,000', 'creates'],
  ['10,000', 'lists'],
  ['10,000', 'creates'],
  ['10,000', 'mixed'],
])(
  'the settings are valid after each step to %s requests per second that are %s, in the order of the table',
  (rate, traffic) => {
    const { name: _name, ...settings }: Record<string, any> = { ...production.stage, recoveryDays: 35 };
    for (const step of row(rate, traffic)[1]!.split(/; |: /)) {
      const [value = 0, second = 0] = Array.from(step.matchAll(/[\d,]+/g), ([digits]) =>
        Number(digits.replaceAll(',', '')),
      );
      const setting = /`(\w+)`/.exec(step)?.[1];
      if (step.endsWith('list partitions'))
        settings['listPartitions'] = [{ since: '2025-01-01T00:00:00Z', count: value }];
      else if (setting === 'warmThroughput')
        settings['warmThroughput'] = { readUnitsPerSecond: value, writeUnitsPerSecond: second };
      else if (setting?.includes('PerMinute'))
        settings['firewall'] = { ...settings['firewall'], [setting]: value };
      else if (setting) settings[setting] = value;
      expect(() => stagesOf({ production: settings as StageSettings })).not.toThrow();
    }
  },
);

test('a stage with more list partitions pays and reads more for lists', () => {
  // 12,000 warm read units ÷ 64 ÷ 0.5, and 1.2 × 1,000 lists × 64 × 0.5 read units
  expect(row('1,000', 'lists', 'larger').slice(0, 2)).toEqual([
    'warm reads (375)',
    '`warmThroughput` 38,400 reads and 4,000 writes; `maxReadUnitsPerSecond` 38,400',
  ]);
  const dollars = (of: keyof typeof tables) => Number(row('1,000', 'lists', of)[2]!.replaceAll(',', ''));
  expect(dollars('larger')).toBeGreaterThan(1.5 * dollars('production'));
});

test('the cost of mixed traffic increases with its rate, up to the highest rate that is possible', () => {
  const [ten, hundred, thousand] = ['10', '100', '1,000'].map((rate) =>
    Number(row(rate, 'mixed')[2]!.replaceAll(',', '')),
  );
  expect(hundred).toBeGreaterThan(2 * ten!);
  expect(thousand).toBeGreaterThan(5 * hundred!);
  expect(row('10,000', 'mixed')[2]).toBe('–');
});

test.each([
  [2, 4, 1, 0.75],
  [4, 4, 1, 0.09375],
  // 1 − (4 × C(4, 3) × 3 + 4) ÷ 4⁴
  [4, 4, 2, 204 / 256],
  [4, 4, 4, 1],
  [5, 4, 1, 0],
])(
  '%d values on %d physical partitions, up to %d in each, fit with a chance of %d',
  (values, physical, most, chance) => {
    expect(chanceThatFits(values, physical, most)).toBeCloseTo(chance, 10);
  },
);
