import { collections } from '../../../shared/contract/operations.ts';
import type { Stage } from '../../settings.ts';
import { markdownTable } from '../markdown.ts';
import type { StageContents } from './contents.ts';
import {
  assumptionList,
  DAYS_PER_MONTH,
  floodRate,
  floodUsage,
  LOG_COMPRESSION,
  type PartialWorkload,
  type Usage,
  usageOf,
} from './usage.ts';

interface Charge {
  /** AWS service, as docs/cost.md links to it. */
  service: string;
  /** What the service charges for. */
  item: string;
  /** Number of units per month, as a formula for readers. @default - the item */
  formula?: string;
  /** Name of a unit that `price` and `units` use, such as `million`. */
  unit: string;
  price: Price;
  /** Number of units per month. */
  units: (usage: Usage, contents: StageContents) => number;
}

/**
 * Sources of prices, which docs/cost.md dates: the AWS Price List, AWS's pricing pages, AWS's announcements of prices, and
 * copies and quotations of pricing pages that show no date.
 */
type Source = 'L' | 'P' | 'A' | 'Q';

interface Price {
  /** Dollars per unit above each number of units. The first number is 0. */
  tiers: [above: number, dollars: number][];
  source: Source;
}

const flat = (dollars: number, source: Source): Price => ({ tiers: [[0, dollars]], source });
const millions = (units: number) => units / 1_000_000;

const backedUp = new Intl.ListFormat('en-GB').format([
  ...collections.map(({ plural }) => plural),
  'API keys',
]);

/** All charges. Those of the stage's contents come last, because they also apply without requests. */
const charges: Charge[] = [
  {
    service: 'API Gateway',
    item: 'requests',
    unit: 'million',
    price: {
      tiers: [
        [0, 3.5],
        [333, 2.8],
        [1_000, 2.38],
        [20_000, 1.51],
      ],
      source: 'L',
    },
    units: ({ requests }) => millions(requests),
  },
  {
    service: 'Lambda',
    item: 'invocations',
    formula: 'requests + authorizer calls',
    unit: 'million',
    price: flat(0.2, 'L'),
    units: ({ invocations }) => millions(invocations),
  },
  {
    service: 'Lambda',
    item: 'duration on arm64',
    formula: 'invocations × billed seconds × GB of memory',
    unit: 'GB-second',
    price: flat(0.0000133334, 'L'),
    units: ({ gbSeconds }) => gbSeconds,
  },
  {
    service: 'DynamoDB',
    item: 'reads',
    formula: 'read units',
    unit: 'million',
    price: flat(0.125, 'A'),
    units: ({ readUnits }) => millions(readUnits),
  },
  {
    service: 'DynamoDB',
    item: 'writes',
    formula: 'write units',
    unit: 'million',
    price: flat(0.625, 'A'),
    units: ({ writeUnits }) => millions(writeUnits),
  },
  {
    service: 'DynamoDB',
    item: 'storage',
    formula: 'GB of tables and indexes',
    unit: 'GB',
    price: flat(0.25, 'Q'),
    units: ({ storedGb }) => storedGb,
  },
  {
    service: 'DynamoDB',
    item: 'point-in-time recovery',
    formula: 'GB of tables',
    unit: 'GB',
    price: flat(0.2, 'Q'),
    units: ({ recoveryGb }) => recoveryGb,
  },
  {
    service: 'AWS Backup',
    item: 'backups',
    formula: `GB of ${backedUp} × (7 + \`retentionDays\`), if \`backup\` is set`,
    unit: 'GB',
    price: flat(0.1, 'Q'),
    units: ({ backupGb }) => backupGb,
  },
  {
    service: 'CloudWatch',
    item: 'access log',
    formula: 'GB of log lines',
    unit: 'GB',
    price: flat(0.5, 'L'),
    units: ({ accessLogGb }) => accessLogGb,
  },
  {
    service: 'CloudWatch',
    item: 'function logs',
    formula: 'GB of log lines',
    unit: 'GB',
    price: {
      tiers: [
        [0, 0.5],
        [10_240, 0.25],
        [30_720, 0.1],
        [51_200, 0.05],
      ],
      source: 'A',
    },
    units: ({ functionLogGb }) => functionLogGb,
  },
  {
    service: 'CloudWatch',
    item: 'log storage',
    formula: `GB of log lines × ${LOG_COMPRESSION} × months of \`logRetentionDays\``,
    unit: 'GB',
    price: flat(0.03, 'L'),
    units: ({ storedLogGb }) => storedLogGb,
  },
  {
    service: 'CloudWatch',
    item: 'custom metrics',
    unit: 'metric',
    price: flat(0.3, 'L'),
    units: ({ customMetrics }) => customMetrics,
  },
  {
    service: 'X-Ray',
    item: 'traces',
    formula: 'recorded requests',
    unit: 'million',
    price: flat(5, 'Q'),
    units: ({ traces }) => millions(traces),
  },
  {
    service: 'WAF',
    item: 'requests',
    formula: 'requests, if `firewall` is set',
    unit: 'million',
    price: flat(0.6, 'P'),
    units: ({ requests }, { webAcls }) => webAcls * millions(requests),
  },
  {
    service: 'Data transfer',
    item: 'to the internet',
    formula: 'GB of responses',
    unit: 'GB',
    price: {
      tiers: [
        [0, 0.09],
        [10_240, 0.085],
        [51_200, 0.07],
        [153_600, 0.05],
      ],
      source: 'L',
    },
    units: ({ responseGb }) => responseGb,
  },
  {
    service: 'CloudWatch',
    item: 'alarm metrics',
    unit: 'metric',
    price: flat(0.1, 'P'),
    units: (_, { alarmMetrics }) => alarmMetrics,
  },
  {
    service: 'CloudWatch',
    item: 'rules of Contributor Insights',
    unit: 'rule',
    price: flat(0.5, 'L'),
    units: (_, { insightRules }) => insightRules,
  },
  {
    service: 'CloudWatch',
    item: 'dashboards',
    unit: 'dashboard',
    price: flat(3, 'Q'),
    units: (_, { dashboards }) => dashboards,
  },
  {
    service: 'WAF',
    item: 'web ACLs',
    unit: 'web ACL',
    price: flat(5, 'P'),
    units: (_, { webAcls }) => webAcls,
  },
  {
    service: 'WAF',
    item: 'rules of the web ACL',
    unit: 'rule',
    price: flat(1, 'P'),
    units: (_, { webAclRules }) => webAclRules,
  },
];

/** Requests per second in the tables of docs/cost.md and README.md. */
const RATES = [0, 10, 1_000];
/** Values of `tracedShare` that docs/cost.md compares. */
const TRACED_SHARES = [0, 0.01, 0.05, 1];

/** Returns the generated parts of docs/cost.md and README.md. */
export function costParts(stages: StageContents[]) {
  const production = stages.find(({ stage }) => stage.name === 'production')!;
  return {
    'docs/cost.md': {
      totals: totalTable(stages),
      idle: idleTable(stages),
      example: exampleTable(production),
      charges: chargeTable(),
      floods: floodTable(stages),
      assumptions: assumptionList(production),
      traces: traceTable(production),
    },
    'README.md': { cost: totalTable(stages, (dollars) => Math.round(dollars).toLocaleString('en')) },
  };
}

/**
 * Returns the dollars per month of a workload, such as `{ requestsPerSecond: 10, storedItems: 1e9 }`, in a stage. The sum
 * contains all charges of docs/cost.md.
 */
export function monthlyCost(workload: PartialWorkload, contents: StageContents): number {
  const usage = usageOf(workload, contents);
  return charges.reduce((total, charge) => total + dollarsOf(charge, usage, contents), 0);
}

function chargeTable(): string {
  const rows = charges.map(({ service, item, formula, unit, price }) => [
    `[${service}][] ${item}`,
    formula ?? item,
    priceText(price, unit),
  ]);
  return markdownTable(['Charge', 'Units per month', 'Price, dollars'], rows, '---');
}

function priceText({ tiers, source }: Price, unit: string): string {
  const texts = tiers.map(([above, dollars]) => {
    const amount = dollars.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 10 });
    return above === 0 ? `${amount} per ${unit}` : `${amount} above ${above.toLocaleString('en')} ${unit}`;
  });
  return `${texts.join('; ')} (${source})`;
}

/** Returns the charges that each stage pays without requests and data, with their units and prices. */
export function idleTable(stages: StageContents[]): string {
  const idle = { requestsPerSecond: 0 };
  const rows = charges
    .map(({ service, item, units, price }) => ({
      name: `${service} ${item}`,
      dollars: price.tiers[0]![1],
      counts: stages.map((contents) => units(usageOf(idle, contents), contents)),
    }))
    .filter(({ counts }) => counts.some((count) => count > 0))
    .map(({ name, dollars, counts }) => [
      name,
      ...counts.map((count) =>
        count > 0 ? `${count} × ${format(dollars)} = ${format(count * dollars)}` : '',
      ),
    ]);
  const totals = stages.map((contents) => `**${format(monthlyCost(idle, contents))}**`);
  return markdownTable(
    ['Dollars per month', ...stages.map(({ stage }) => stage.name)],
    [...rows, ['**total**', ...totals]],
  );
}

/** Returns the dollars of each charge at each rate, and the totals. */
export function exampleTable(contents: StageContents): string {
  const usages = RATES.map((requestsPerSecond) => usageOf({ requestsPerSecond }, contents));
  const rows = charges.map((charge) => [
    `${charge.service} ${charge.item}`,
    ...usages.map((usage) => format(dollarsOf(charge, usage, contents))),
  ]);
  const totals = RATES.map(
    (requestsPerSecond) => `**${format(monthlyCost({ requestsPerSecond }, contents))}**`,
  );
  return markdownTable(
    ['Dollars per month', ...RATES.map(rateText)],
    // Charges that the example never has, such as that of backups, are in the table of charges only.
    [...rows.filter(([, ...cells]) => cells.some((cell) => cell !== '')), ['**total**', ...totals]],
  );
}

/** Returns the total of each stage at each rate. A dash replaces totals at rates that the stage's settings do not allow. */
export function totalTable(stages: StageContents[], text = format): string {
  const rows = RATES.map((requestsPerSecond) => [
    rateText(requestsPerSecond),
    ...stages.map((contents) =>
      requestsPerSecond > contents.stage.requestsPerSecond
        ? '–'
        : text(monthlyCost({ requestsPerSecond }, contents)),
    ),
  ]);
  return markdownTable(['Dollars per month', ...stages.map(({ stage }) => stage.name)], rows);
}

/**
 * Returns what a flood of requests without API keys to one method costs, in addition to what each stage costs anyway: for a
 * month and for a day from one IP address, and for a day from so many addresses that only the method's limit remains.
 */
export function floodTable(stages: StageContents[]): string {
  const rows = charges
    .map((charge) => ({
      name: `${charge.service} ${charge.item}`,
      dollars: stages.map((contents) => floodDollars(charge, floodRate(contents.stage), contents)),
    }))
    .filter(({ dollars }) => dollars.some((amount) => amount > 0));
  const totals = (rateOf: (stage: Stage) => number, days: number) =>
    stages.map((contents) => {
      const dollars = charges.map((charge) => floodDollars(charge, rateOf(contents.stage), contents));
      const month = dollars.reduce((total, amount) => total + amount, 0);
      return `**${format((month * days) / DAYS_PER_MONTH)}**`;
    });
  return markdownTable(
    ['Dollars per month, one address', ...stages.map(({ stage }) => stage.name)],
    [
      ...rows.map(({ name, dollars }) => [name, ...dollars.map(format)]),
      ['**total**', ...totals(floodRate, DAYS_PER_MONTH)],
      ['**total per day**', ...totals(floodRate, 1)],
      ['**per day, many addresses**', ...totals(({ requestsPerSecond }) => requestsPerSecond, 1)],
    ],
  );
}

/** Returns what a charge adds to an idle stage in a month in which clients send `rate` requests per second to one method. */
function floodDollars(charge: Charge, rate: number, contents: StageContents): number {
  const idle = usageOf({ requestsPerSecond: 0 }, contents);
  return dollarsOf(charge, floodUsage(rate, contents), contents) - dollarsOf(charge, idle, contents);
}

/** Returns the dollars of X-Ray's traces by `tracedShare` at each rate. */
export function traceTable(contents: StageContents): string {
  const charge = charges.find(({ service }) => service === 'X-Ray')!;
  const rates = RATES.filter((rate) => rate > 0);
  const rows = TRACED_SHARES.map((tracedShare) => [
    `${tracedShare}`,
    ...rates.map((requestsPerSecond) =>
      format(dollarsOf(charge, usageOf({ requestsPerSecond, tracedShare }, contents), contents)),
    ),
  ]);
  return markdownTable(['`tracedShare`', ...rates.map(rateText)], rows);
}

function dollarsOf({ units, price }: Charge, usage: Usage, contents: StageContents): number {
  return dollarsFor(units(usage, contents), price);
}

function dollarsFor(units: number, { tiers }: Price): number {
  return tiers.reduce((total, [above, dollars], tier) => {
    const end = tiers[tier + 1]?.[0] ?? Infinity;
    return total + Math.max(0, Math.min(units, end) - above) * dollars;
  }, 0);
}

const rateText = (rate: number) =>
  rate === 0 ? 'without requests' : `${rate.toLocaleString('en')} requests/s`;
const format = (value: number) =>
  value === 0 ? '' : value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
