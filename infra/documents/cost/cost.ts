import { collections } from '../../../shared/contract/operations.ts';
import { markdownTable } from '../markdown.ts';
import { contentsOfStages, type StageContents } from './contents.ts';
import { assumptionList, LOG_COMPRESSION, type Usage, usageOf } from './usage.ts';

interface Charge {
  /** AWS service, as docs/cost.md links to it. */
  service: string;
  /** What the service charges for. */
  item: string;
  /** Number of units per month, as a formula for readers. @default - the item */
  formula?: string;
  /** Name of a unit that `price` and `units` use, such as `million`. */
  unit: string;
  /** @default - no price, because no source of the price has a date */
  price?: Price;
  /** Number of units per month. @default - the example omits the charge */
  units?: (usage: Usage, contents: StageContents) => number;
}

interface Price {
  /** Dollars per unit above each number of units. The first number is 0. */
  tiers: [above: number, dollars: number][];
  /** AWS Price List or pricing page, which docs/cost.md dates. */
  source: 'L' | 'P';
}

const fromPriceList = (dollars: number): Price => ({ tiers: [[0, dollars]], source: 'L' });
const fromPricingPage = (dollars: number): Price => ({ tiers: [[0, dollars]], source: 'P' });
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
    price: fromPriceList(0.2),
    units: ({ invocations }) => millions(invocations),
  },
  {
    service: 'Lambda',
    item: 'duration on arm64',
    formula: 'invocations × billed seconds × GB of memory',
    unit: 'GB-second',
    price: fromPriceList(0.0000133334),
    units: ({ gbSeconds }) => gbSeconds,
  },
  {
    service: 'CloudWatch',
    item: 'log ingestion',
    formula: 'GB of log lines',
    unit: 'GB',
    price: fromPriceList(0.5),
    units: ({ logGb }) => logGb,
  },
  {
    service: 'CloudWatch',
    item: 'log storage',
    formula: `GB of log lines × ${LOG_COMPRESSION} × months of \`logRetentionDays\``,
    unit: 'GB',
    price: fromPriceList(0.03),
    units: ({ storedLogGb }) => storedLogGb,
  },
  {
    service: 'CloudWatch',
    item: 'custom metrics',
    unit: 'metric',
    price: fromPriceList(0.3),
  },
  {
    service: 'WAF',
    item: 'requests',
    formula: 'requests, if `firewall` is set',
    unit: 'million',
    price: fromPricingPage(0.6),
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
      ],
      source: 'L',
    },
    units: ({ responseGb }) => responseGb,
  },
  {
    service: 'DynamoDB',
    item: 'read units',
    unit: 'million',
    units: ({ readUnits }) => millions(readUnits),
  },
  {
    service: 'DynamoDB',
    item: 'write units',
    unit: 'million',
    units: ({ writeUnits }) => millions(writeUnits),
  },
  {
    service: 'DynamoDB',
    item: 'storage',
    formula: 'GB of tables and indexes',
    unit: 'GB',
    units: ({ storedGb }) => storedGb,
  },
  {
    service: 'DynamoDB',
    item: 'point-in-time recovery',
    formula: 'GB of tables',
    unit: 'GB',
    units: ({ recoveryGb }) => recoveryGb,
  },
  {
    service: 'AWS Backup',
    item: 'backups',
    formula: `GB of ${backedUp} × (7 + \`retentionDays\`), if \`backup\` is set`,
    unit: 'GB',
  },
  {
    service: 'X-Ray',
    item: 'recorded traces',
    unit: 'million',
    units: ({ traces }) => millions(traces),
  },
  {
    service: 'CloudWatch',
    item: 'alarm metrics',
    unit: 'metric',
    price: fromPricingPage(0.1),
    units: (_, { alarmMetrics }) => alarmMetrics,
  },
  {
    service: 'CloudWatch',
    item: 'rules of Contributor Insights',
    unit: 'rule',
    price: fromPriceList(0.5),
    units: (_, { insightRules }) => insightRules,
  },
  {
    service: 'WAF',
    item: 'web ACLs',
    unit: 'web ACL',
    price: fromPricingPage(5),
    units: (_, { webAcls }) => webAcls,
  },
  {
    service: 'WAF',
    item: 'rules of the web ACL',
    unit: 'rule',
    price: fromPricingPage(1),
    units: (_, { webAclRules }) => webAclRules,
  },
  { service: 'CloudWatch', item: 'dashboards', unit: 'dashboard' },
];

/** Requests per second in the columns of the example. */
const RATES = [0, 10, 1_000];
/** README leaves out the highest rate, because staging's settings do not allow it. */
const README_RATES = RATES.slice(0, 2);

/** Returns the generated parts of docs/cost.md and README.md. */
export async function costParts() {
  const stages = await contentsOfStages();
  const production = stages.find(({ stage }) => stage.name === 'production')!;
  return {
    'docs/cost.md': {
      charges: chargeTable(),
      contents: contentsTable(stages),
      assumptions: assumptionList(production),
      example: exampleTable(production),
    },
    'README.md': { cost: totalTable(stages) },
  };
}

function chargeTable(): string {
  const rows = charges.map(({ service, item, formula, unit, price }) => [
    formula ? `[${service}][] ${item}` : `[${service}][]`,
    formula ?? item,
    price ? priceText(price, unit) : '–',
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

function contentsTable(stages: StageContents[]): string {
  const rows = stages.map((contents) => [
    contents.stage.name,
    `${contents.alarmMetrics}`,
    `${contents.insightRules}`,
    `${contents.webAcls}`,
    `${contents.webAclRules}`,
    format(dollarsPerMonth(0, contents)),
  ]);
  const counts = ['Alarm metrics', 'Rules of Contributor Insights', 'Web ACLs', 'Rules of the web ACL'];
  return markdownTable(['Stage', ...counts, 'Dollars per month'], rows);
}

/** Returns the example's table: dollars for charges with a price, the total, and units for the other charges. */
export function exampleTable(contents: StageContents): string {
  const inExample = charges.filter(({ units }) => units);
  const cellsOf = (charge: Charge) =>
    RATES.map((rate) => {
      const units = charge.units!(usageOf(rate, contents), contents);
      return units === 0 ? '' : format(charge.price ? dollarsFor(units, charge.price) : units);
    });
  const total = RATES.map((rate) => `**${format(dollarsPerMonth(rate, contents))}**`);
  return markdownTable(
    ['Dollars per month', ...RATES.map(rateText)],
    [
      ...inExample.filter(({ price }) => price).map((charge) => [nameOf(charge), ...cellsOf(charge)]),
      ['**total of these rows**', ...total],
      ...inExample
        .filter(({ price }) => !price)
        .map((charge) => [`+ ${nameOf(charge)}, ${charge.unit}`, ...cellsOf(charge)]),
    ],
  );
}

function totalTable(stages: StageContents[]): string {
  const rows = README_RATES.map((rate) => [
    rateText(rate),
    ...stages.map((contents) => format(dollarsPerMonth(rate, contents))),
  ]);
  return markdownTable(['Dollars per month', ...stages.map(({ stage }) => stage.name)], rows);
}

/** Returns the sum of the charges that have a price and are in the example. */
function dollarsPerMonth(requestsPerSecond: number, contents: StageContents): number {
  const usage = usageOf(requestsPerSecond, contents);
  return charges.reduce(
    (total, { price, units }) => (price && units ? total + dollarsFor(units(usage, contents), price) : total),
    0,
  );
}

function dollarsFor(units: number, { tiers }: Price): number {
  return tiers.reduce((total, [above, dollars], tier) => {
    const end = tiers[tier + 1]?.[0] ?? Infinity;
    return total + Math.max(0, Math.min(units, end) - above) * dollars;
  }, 0);
}

const nameOf = ({ service, item }: Charge) => `${service} ${item}`;
const rateText = (rate: number) =>
  rate === 0 ? 'without requests' : `${rate.toLocaleString('en')} requests/s`;
const format = (value: number) =>
  value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
