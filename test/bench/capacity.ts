import { markdownTable } from '../../infra/documents/markdown.ts';
import { awsLimits, largestItemBytes, listReadUnits } from '../../infra/capacity.ts';
import { ITEM_BYTES } from '../../infra/documents/cost/usage.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { collections } from '../../shared/contract/operations.ts';
import { machine, runBenchmark } from './benchmark.ts';
import { type Outcome, simulateCreates } from './capacity/creates.ts';
import { itemCount, limitTable } from './capacity/limits.ts';
import { measureListCpu } from './capacity/list-cpu.ts';
import { simulatePlacement } from './capacity/physical-partitions.ts';
import { simulateLostItems } from './capacity/regions.ts';
import { simulateSecondRounds } from './capacity/second-rounds.ts';
import { formatSpread } from './measurements.ts';

// `npm run capacity` simulates the limits of AWS and computes throughput limits for docs/scaling.md.

const FULL = { rounds: 40, placements: 20_000, pages: 50_000, hours: 1, cpuValues: 15 };
const QUICK = { rounds: 2, placements: 1_000, pages: 1_000, hours: 0.1, cpuValues: 1 };

/** Settings for each list partition, and the write units of each item in an index. */
const CREATE_SETTINGS = [
  { units: 1, rate: 1_000, burst: 2_000 },
  { units: 1, rate: 800, burst: 400 },
  { units: 1, rate: 800, burst: 200 },
  { units: 1, rate: 600, burst: 300 },
  { units: 2, rate: 1_000, burst: 2_000 },
  { units: 2, rate: 600, burst: 300 },
  { units: 2, rate: 400, burst: 400 },
  { units: 2, rate: 400, burst: 200 },
  { units: 2, rate: 400, burst: 100 },
];
/** Ratio of the creates per second that clients send to the rate that API Gateway allows. */
const OVERLOAD = 3;
/** Values of `savedSeconds`, because AWS does not document the real value. */
const SAVED_SECONDS = [1, 0.1, 0.01];
/** Numbers of partition key values, and of physical partitions. */
const PLACEMENTS = [
  [2, 4],
  [4, 4],
  [16, 4],
  [4, 16],
  [16, 16],
  [16, 64],
  [64, 64],
] as const;
const LIST_PARTITIONS = [1, 2, 4, 16, 64, 200];
const PAGES = [PAGE.default, PAGE.maximum];
const LARGEST_BYTES = largestItemBytes(collections[0]);

/** Content of `test/bench/capacity.json`. */
type Results = Awaited<ReturnType<typeof measureAll>>;

await runBenchmark({
  script: 'capacity',
  purpose: 'throughput limits by simulation',
  results: 'capacity.json',
  document: 'docs/scaling.md',
  measure: measureAll,
  parts: (results: Results) => ({
    limits: limitTable(),
    bursts: burstTable(results),
    placement: placementTable(results),
    lists: listTable(results),
  }),
});

async function measureAll(isQuick: boolean) {
  const { rounds, placements, pages, hours, cpuValues } = isQuick ? QUICK : FULL;
  console.log(`Lost items per day: ${simulateLostItems(500, hours * 3_600, 1)}`);
  return {
    creates: CREATE_SETTINGS.map((settings) => ({
      ...settings,
      second: SAVED_SECONDS.map((saved) => worstShares(settings, 1, saved, [1, 2, 4, 16], rounds)),
      minute: SAVED_SECONDS.map((saved) => worstShares(settings, 60, saved, [1, 4], 1)),
    })),
    placement: PLACEMENTS.map(([values, partitions]) => ({
      values,
      partitions,
      ...simulatePlacement(values, partitions, placements, 1),
    })),
    secondRounds: PAGES.map((items) => ({
      items,
      shares: LIST_PARTITIONS.map((partitions) => ({
        partitions,
        share: simulateSecondRounds(items, partitions, pages, 1),
      })),
    })),
    listCpu: {
      runDetails: `${new Date().toISOString().slice(0, 10)} on ${machine}`,
      spreads: await measureListCpu(LIST_PARTITIONS, cpuValues),
    },
  };
}

type Shares = Record<'rejected' | 'slow' | 'failed', number> & {
  /** Largest number of concurrent creates per list partition. */
  concurrent: number;
};

/** Returns the largest shares for the numbers of list partitions. The settings apply to each list partition. */
function worstShares(
  { units, rate, burst }: (typeof CREATE_SETTINGS)[number],
  seconds: number,
  savedSeconds: number,
  partitionCounts: number[],
  rounds: number,
): Shares {
  const all = partitionCounts.map((listPartitions) => {
    const traffic = { createsPerSecond: OVERLOAD * rate * listPartitions, seconds, unitsPerItem: units };
    const limits = {
      rate: rate * listPartitions,
      burst: burst * listPartitions,
      listPartitions,
      savedSeconds,
    };
    const outcomes = Array.from({ length: Math.ceil(rounds / listPartitions) }, (_, seed) =>
      simulateCreates(traffic, limits, seed),
    );
    return sharesOf(outcomes, listPartitions);
  });
  const worst = (name: keyof Shares) => Number(Math.max(...all.map((each) => each[name])).toFixed(6));
  return {
    rejected: worst('rejected'),
    slow: worst('slow'),
    failed: worst('failed'),
    concurrent: Math.ceil(worst('concurrent')),
  };
}

/** Returns the share of all creates that get a 429, and the shares of the other creates that are slow or get a 503. */
function sharesOf(outcomes: Outcome[], listPartitions: number): Shares {
  const total = (name: keyof Outcome) => outcomes.reduce((sum, outcome) => sum + outcome[name], 0);
  const accepted = total('sent') - total('rejected');
  return {
    rejected: total('rejected') / total('sent'),
    slow: total('slow') / accepted,
    failed: total('failed') / accepted,
    concurrent: Math.max(...outcomes.map(({ mostConcurrent }) => mostConcurrent)) / listPartitions,
  };
}

function burstTable({ creates }: Results): string {
  return markdownTable(
    ['Size', 'Rate', 'Burst', ...['A second', 'A minute'].flatMap((time) => [`${time}: 429`, 'slow', '503'])],
    creates.map(({ units, rate, burst, second, minute }) => [
      `${units} KB`,
      rate.toLocaleString('en'),
      burst.toLocaleString('en'),
      ...shareCells(second),
      ...shareCells(minute),
    ]),
  );
}

/** Returns a cell each for 429s, slow responses and 503s, with the largest share of all `SAVED_SECONDS`. */
function shareCells(all: Shares[]): string[] {
  const worst = (name: 'rejected' | 'slow' | 'failed') => Math.max(...all.map((each) => each[name]));
  return [percent(worst('rejected')), percent(worst('slow')), percent(worst('failed'))];
}

function placementTable({ placement }: Results): string {
  const { keyWrites, keyReads } = awsLimits;
  const lists = keyReads / listReadUnits(PAGE.default, 1, ITEM_BYTES);
  const head = [
    'Values',
    'Physical partitions',
    'All apart',
    'First throttled writes',
    'Lists',
    'Most writes',
  ];
  const rows = placement.map(({ values, partitions, apart, fullest, used }) => [
    `${values}`,
    `${partitions}`,
    percent(apart),
    `${rounded((values * keyWrites) / fullest.median)} / ${rounded((values * keyWrites) / fullest.p90)}`,
    `${rounded(lists / fullest.median)} / ${rounded(lists / fullest.p90)}`,
    rounded(used * keyWrites),
  ]);
  return markdownTable(head, rows);
}

function listTable({ secondRounds, listCpu }: Results): string {
  return [
    markdownTable(
      ['List partitions', ...LIST_PARTITIONS.map(String)],
      [
        ...PAGES.map((items) => [
          `read units, ${itemCount(items)} of ${ITEM_BYTES} bytes`,
          ...LIST_PARTITIONS.map((partitions) =>
            listReadUnits(items, partitions, ITEM_BYTES).toLocaleString('en'),
          ),
        ]),
        ...PAGES.flatMap((items) =>
          [ITEM_BYTES, LARGEST_BYTES].map((bytes) => [
            `lists per second, ${itemCount(items)} of ${bytes.toLocaleString('en')} bytes`,
            ...LIST_PARTITIONS.map((partitions) => {
              const unitsOfValue = listReadUnits(items, partitions, bytes) / partitions;
              return rounded(awsLimits.keyReads / unitsOfValue);
            }),
          ]),
        ),
        ...secondRounds.map(({ items, shares }) => [
          `second round, ${itemCount(items)}`,
          ...shares.map(({ share }) => percent(share)),
        ]),
        ['CPU time, ms', ...listCpu.spreads.map(formatSpread)],
      ],
    ),
    `\nThe CPU time was measured on ${listCpu.runDetails}.\n`,
  ].join('');
}

function percent(share: number): string {
  if (share > 0 && share < 0.0001) return '<0.01%';
  return share.toLocaleString('en', { style: 'percent', maximumSignificantDigits: 2 });
}

function rounded(perSecond: number): string {
  return perSecond.toLocaleString('en', { maximumSignificantDigits: 2 });
}
