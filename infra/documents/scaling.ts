import { createCapacity, MAX_LIST_PARTITIONS } from '../capacity.ts';
import { collections } from '../../shared/contract/operations.ts';
import { ID_START } from '../../shared/list-partitions.ts';
import { monthlyCost } from './cost/cost.ts';
import type { Stage } from '../settings.ts';
import type { StageContents } from './cost/contents.ts';
import { ITEM_BYTES, type Mix } from './cost/usage.ts';
import { markdownTable } from './markdown.ts';

/** AWS's default quotas and fixed limits, per second. */
export const awsLimits = {
  /** In most regions. https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
  gatewayRequests: 10_000,
  /**
   * Invocations per second: 10 for each concurrent execution that the account's quota allows, which is 1,000 by default.
   * https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
   */
  lambdaInvocations: 10_000,
  /** With a new account's quota of 10 concurrent executions. */
  newAccountInvocations: 100,
  /** https://docs.aws.amazon.com/waf/latest/developerguide/limits.html */
  webAclRequests: 100_000,
  /**
   * Units of all items with the same partition key value, if the sort key increases with time.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
   */
  keyReads: 3_000,
  keyWrites: 1_000,
  /**
   * Units that a new table or index takes.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html
   */
  warmReads: 12_000,
  warmWrites: 4_000,
  /** Units of a table or an index. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Limits.html */
  tableReads: 40_000,
  tableWrites: 40_000,
} as const;

/** A query reads up to 4 KB with half a read unit, because lists are not strongly consistent. */
const UNITS_PER_QUERY = 0.5;
const API_KEYS = 100;
const STORED_ITEMS = 1e9;
const RATES = [10, 100, 1_000, 10_000, 100_000];

const mixes: { name: string; mix: Mix }[] = [
  { name: 'Lists', mix: { lists: 1, gets: 0, creates: 0 } },
  { name: 'Creates', mix: { lists: 0, gets: 0, creates: 1 } },
  { name: 'Mixed', mix: { lists: 0.8, gets: 0.15, creates: 0.05 } },
];

/** Steps in the order in which operators take them. */
type Step = 'quotas' | 'warm throughput' | 'list partitions' | 'maxima' | 'rates';

interface Limit {
  name: string;
  /** Requests per second of the mix that reach the limit. Infinity if the mix has no such requests. */
  requests: number;
  /** @default - no step raises the limit */
  step?: Step;
}

/** Returns the generated parts of docs/scaling.md that depend on the stages. `npm run capacity` writes the other parts. */
export function scalingParts(stages: StageContents[]) {
  const production = stages.find(({ stage }) => stage.name === 'production')!;
  return { 'docs/scaling.md': { scale: scaleTable(production) } };
}

/**
 * Returns the table of limits, steps and costs at each scale. Each row assumes that the steps of the previous rows are done.
 *
 * @param createsPerPartition highest `createsPerSecond` that a list partition allows
 */
export function scaleTable(
  production: StageContents,
  createsPerPartition: number = createCapacity(
    { listPartitions: [{ since: ID_START, count: 1 }], maxWriteUnitsPerSecond: Infinity },
    Date.now(),
  ).rate,
): string {
  const { stage } = production;
  const present = stage.listPartitions.at(-1)!.count;
  const partitionsFor = (creates: number) =>
    Math.max(present, Math.min(MAX_LIST_PARTITIONS, Math.ceil(creates / createsPerPartition)));

  const rows = RATES.map((rate, row) => {
    const previousRate = RATES[row - 1] ?? 0;
    const columns = mixes.map(({ name, mix }) => {
      const before = partitionsFor(previousRate * mix.creates);
      const after = partitionsFor(rate * mix.creates);
      const reached = limitsOf(mix, before, stage)
        .filter(({ requests }) => requests > previousRate && requests <= rate)
        .toSorted((one, other) => one.requests - other.requests);
      const workload = { requestsPerSecond: rate, mix, storedItems: STORED_ITEMS, listPartitions: after };
      return {
        reached,
        isAboveRates:
          rate * mix.lists > stage.requestsPerSecond || rate * mix.creates > stage.createsPerSecond,
        partitions: after > before ? [`${after} (${name.toLowerCase()})`] : [],
        dollars: monthlyCost(workload, production),
      };
    });
    return [
      number(rate),
      ...columns.map(({ reached }) => firstLimits(reached)),
      stepsOf(columns),
      columns.map(({ dollars }) => number(dollars, { maximumSignificantDigits: 3 })).join(' / '),
    ];
  });
  return markdownTable(
    ['Requests/s', ...mixes.map(({ name }) => name), 'Steps', 'Dollars per month'],
    rows,
    '---',
  );
}

function limitsOf(mix: Mix, partitions: number, stage: Stage): Limit[] {
  const reads = mix.lists * UNITS_PER_QUERY * partitions;
  const writes = mix.creates * Math.ceil(ITEM_BYTES / 1_024);
  const perKey = stage.firewall ? stage.firewall.requestsPerMinutePerKey / 60 : Infinity;
  return [
    { name: 'Lambda in a new account', requests: awsLimits.newAccountInvocations, step: 'quotas' },
    { name: 'Lambda', requests: awsLimits.lambdaInvocations, step: 'quotas' },
    { name: 'API Gateway', requests: awsLimits.gatewayRequests, step: 'quotas' },
    { name: 'web ACL', requests: stage.firewall ? awsLimits.webAclRequests : Infinity, step: 'quotas' },
    { name: 'table reads', requests: awsLimits.tableReads / reads, step: 'quotas' },
    { name: 'table writes', requests: awsLimits.tableWrites / writes, step: 'quotas' },
    {
      name: 'list partitions',
      requests: (partitions * awsLimits.keyWrites) / writes,
      step: 'list partitions',
    },
    {
      name: `**newest ${collections[0].plural}**`,
      requests: awsLimits.keyReads / (mix.lists * UNITS_PER_QUERY),
    },
    { name: 'warm reads', requests: awsLimits.warmReads / reads, step: 'warm throughput' },
    { name: 'warm writes', requests: awsLimits.warmWrites / writes, step: 'warm throughput' },
    { name: '`maxReadUnitsPerSecond`', requests: stage.maxReadUnitsPerSecond / reads, step: 'maxima' },
    { name: '`maxWriteUnitsPerSecond`', requests: stage.maxWriteUnitsPerSecond / writes, step: 'maxima' },
    { name: '`requestsPerSecond`', requests: stage.requestsPerSecond / mix.lists, step: 'rates' },
    { name: '`createsPerSecond`', requests: stage.createsPerSecond / mix.creates, step: 'rates' },
    { name: '`requestsPerMinutePerKey`', requests: API_KEYS * perKey, step: 'rates' },
  ];
}

/** Returns the lowest limit, and the limit that no step raises. */
function firstLimits(reached: Limit[]): string {
  const shown = reached.filter(({ step }, index) => index === 0 || step === undefined);
  return shown.map(({ name, requests }) => `${name} (${number(Math.round(requests))})`).join(', ') || '–';
}

interface Column {
  reached: Limit[];
  isAboveRates: boolean;
  /** Number of list partitions, if it has to be raised. */
  partitions: string[];
}

function stepsOf(columns: Column[]): string {
  const needs = (step: Step) => columns.some(({ reached }) => reached.some((limit) => limit.step === step));
  const partitions = columns.flatMap((column) => column.partitions);
  const steps = [
    needs('quotas') ? 'quotas' : [],
    needs('warm throughput') ? 'warm throughput' : [],
    partitions.length > 0 ? `list partitions: ${partitions.join(', ')}` : [],
    needs('maxima') ? 'maxima' : [],
    columns.some(({ isAboveRates }) => isAboveRates) ? 'rates' : [],
  ].flat();
  return steps.join('; ') || '–';
}

const number = (value: number, options: Intl.NumberFormatOptions = {}) => value.toLocaleString('en', options);
