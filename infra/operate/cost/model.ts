import type { StageSettings } from '../../settings.ts';

/** The pricing page of each service, whose prices for us-east-1 are below: on demand, no free tier. */
export const pricingPages = {
  'API Gateway': 'https://aws.amazon.com/api-gateway/pricing/',
  Lambda: 'https://aws.amazon.com/lambda/pricing/',
  DynamoDB: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
  CloudWatch: 'https://aws.amazon.com/cloudwatch/pricing/',
  'X-Ray': 'https://aws.amazon.com/xray/pricing/',
  WAF: 'https://aws.amazon.com/waf/pricing/',
  'Data transfer': 'https://aws.amazon.com/ec2/pricing/on-demand/',
};

export interface Price {
  service: keyof typeof pricingPages;
  unit: string;
  /** US dollars a unit; in tiers, up to how many units of a month each holds. */
  dollars: number | [upTo: number, dollars: number][];
  /** What the figure was compared with, and from when that is. */
  seen: string;
}

const priceList = '2025-10-28, copy of the AWS Price List';
const transcript = '2026-09-29, transcript of the page';

// prettier-ignore
export const prices = {
  requests: { service: 'API Gateway', unit: 'million requests', dollars: [[333, 3.5], [1_000, 2.8], [20_000, 2.38], [Infinity, 1.51]], seen: priceList },
  invocations: { service: 'Lambda', unit: 'million invocations', dollars: 0.2, seen: priceList },
  duration: { service: 'Lambda', unit: 'GB-second on arm64', dollars: [[7.5e9, 0.0000133334], [18.75e9, 0.0000120001], [Infinity, 0.0000106667]], seen: priceList },
  reads: { service: 'DynamoDB', unit: 'million read request units', dollars: 0.125, seen: '2025-07-21, quoted by airbyte.com' },
  writes: { service: 'DynamoDB', unit: 'million write request units', dollars: 0.625, seen: '2025-07-21, quoted by airbyte.com' },
  storage: { service: 'DynamoDB', unit: 'GB-month of table and indexes', dollars: 0.25, seen: 'undated copy of the page' },
  recovery: { service: 'DynamoDB', unit: 'GB-month of point-in-time recovery', dollars: 0.2, seen: 'undated quotations of the page' },
  logs: { service: 'CloudWatch', unit: 'GB of log taken in', dollars: 0.5, seen: priceList },
  logStorage: { service: 'CloudWatch', unit: 'GB-month of log kept', dollars: 0.03, seen: priceList },
  metrics: { service: 'CloudWatch', unit: 'custom metric', dollars: [[10_000, 0.3], [250_000, 0.1], [1_000_000, 0.05], [Infinity, 0.02]], seen: priceList },
  alarms: { service: 'CloudWatch', unit: 'metric that an alarm watches', dollars: 0.1, seen: transcript },
  dashboards: { service: 'CloudWatch', unit: 'dashboard', dollars: 3, seen: '2026-06-13, quoted by factualminds.com' },
  contributorRules: { service: 'CloudWatch', unit: 'rule of Contributor Insights', dollars: 0.5, seen: priceList },
  traces: { service: 'X-Ray', unit: 'million traces recorded', dollars: 5, seen: 'undated copies of the page' },
  webAcls: { service: 'WAF', unit: 'web ACL', dollars: 5, seen: transcript },
  webAclRules: { service: 'WAF', unit: 'rule or managed rule group', dollars: 1, seen: transcript },
  webAclRequests: { service: 'WAF', unit: 'million requests inspected', dollars: 0.6, seen: transcript },
  transferOut: { service: 'Data transfer', unit: 'GB sent to the internet', dollars: [[10_240, 0.09], [51_200, 0.085], [153_600, 0.07], [Infinity, 0.05]], seen: priceList },
} satisfies Record<string, Price>;

/** What `stages.ts` does not say. Units are in the names. */
export const assumptions = {
  operationShares: { listPets: 0.8, getPet: 0.15, createPet: 0.05 },
  petsPerList: 20,
  /** As stored, names of attributes included: a `name` of 20 characters, a UUID or a token, the keys of both indexes. */
  petBytes: 165,
  /** Their first requests; repetitions are left out. */
  shareOfCreatesWithIdempotencyKey: 0.5,
  /** As stored, names of attributes included. */
  intentBytes: 175,
  /** They count for a day, and are gone within a few days more: the table deletes them, free of charge. */
  daysOfIntents: 3,
  /** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
  storageOverheadBytes: 100,
  shareOfPetsWithStatus: 0.9,
  monthsOfPets: 12,
  /** Distinct keys, used evenly. */
  apiKeys: 100,
  /** At 512 MB, docs/performance.md; that of the intent is assumed, and none is of AWS. Cold starts are left out. */
  billedMilliseconds: { listPets: 8.3, getPet: 8, createPet: 8.3, intent: 5, authorizer: 7.7 },
  /** Status line, headers and body. */
  answerBytes: { listPets: 2_500, getPet: 900, createPet: 800 },
  accessLogBytes: 420,
  /** The lines that count `DeprecatedCalls` and `PetsCreated`. */
  metricLogBytes: { listPets: 0, getPet: 290, createPet: 210 },
  /** What a log takes in storage: 6 GB of 30 in the example on AWS's page. */
  compressedLogShare: 0.2,
  /** `PetsCreated`, and one for each code or type of refusal. */
  metrics: 12,
  /** `DeprecatedCalls` has the key among its dimensions. */
  metricsPerApiKey: 1,
  /** X-Ray's default: the first request of each second, and this share of the others. */
  tracedShare: 0.05,
  /** AWS counts the metrics that alarms look at. */
  alarmMetrics: 23,
  /** Of the alarms that watch a deployment by canary. */
  canaryAlarmMetrics: 8,
  dashboards: 1,
  /** For throttled keys: one each for three tables, two each for three indexes. */
  contributorRules: 9,
  /** Limits by address and by key, IP reputation, known bad inputs. */
  webAclRules: 4,
};

export type Assumptions = typeof assumptions;
/** A number for each price. */
export type Amounts = Record<keyof typeof prices, number>;

export const SECONDS_PER_MONTH = 730 * 3_600;
const GB = 2 ** 30;

/** Units of each price that a stage uses in a month of a steady rate. */
function monthlyUse(settings: StageSettings, perSecond: number, assumed: Assumptions): Amounts {
  const { operationShares: shares, billedMilliseconds, apiKeys, petBytes } = assumed;
  function perRequest(of: Assumptions['operationShares']): number {
    return shares.listPets * of.listPets + shares.getPet * of.getPet + shares.createPet * of.createPet;
  }
  const requests = perSecond * SECONDS_PER_MONTH;
  // A key asked for is let in for so long, and then is asked for again after one divided by its rate.
  const secondsBetween = settings.authorizerCacheSeconds + apiKeys / perSecond;
  const authorizations = (apiKeys / secondsBetween) * SECONDS_PER_MONTH;
  const invocations = requests + authorizations;
  const creates = requests * shares.createPet;
  const intents = creates * assumed.shareOfCreatesWithIdempotencyKey;
  const { listPets, getPet, createPet, authorizer } = settings.functionMemoryMegabytes;
  const megabyteMilliseconds =
    requests *
      perRequest({
        listPets: billedMilliseconds.listPets * listPets,
        getPet: billedMilliseconds.getPet * getPet,
        createPet: billedMilliseconds.createPet * createPet,
      }) +
    intents * billedMilliseconds.intent * createPet +
    authorizations * billedMilliseconds.authorizer * authorizer;

  const listUnits = listReadUnits(settings.listPartitions, assumed.petsPerList, petBytes);
  const readUnits = { listPets: listUnits, getPet: Math.ceil(petBytes / 4_096), createPet: 0 };
  const tableAndIndexes = 1 + 1 + assumed.shareOfPetsWithStatus;
  const petsBytes = creates * assumed.monthsOfPets * (petBytes + assumed.storageOverheadBytes);
  const monthsOfIntents = (assumed.daysOfIntents * 86_400) / SECONDS_PER_MONTH;
  const intentsBytes = intents * monthsOfIntents * (assumed.intentBytes + assumed.storageOverheadBytes);

  const logBytes = requests * (assumed.accessLogBytes + perRequest(assumed.metricLogBytes));
  const monthsOfLogs = (settings.logRetentionDays * 86_400) / SECONDS_PER_MONTH;
  const tracesPerSecond = Math.min(perSecond, 1 + assumed.tracedShare * (perSecond - 1));
  const webAcls = settings.firewall ? 1 : 0;

  return {
    requests: requests / 1e6,
    invocations: invocations / 1e6,
    duration: megabyteMilliseconds / 1_000 / 1_024,
    reads: (requests * perRequest(readUnits) + authorizations) / 1e6,
    writes:
      (creates * tableAndIndexes * Math.ceil(petBytes / 1_024) +
        intents * Math.ceil(assumed.intentBytes / 1_024)) /
      1e6,
    storage: (petsBytes * tableAndIndexes + intentsBytes) / GB,
    recovery: (petsBytes + intentsBytes) / GB,
    logs: logBytes / GB,
    logStorage: (logBytes * assumed.compressedLogShare * monthsOfLogs) / GB,
    metrics: requests > 0 ? assumed.metrics + apiKeys * assumed.metricsPerApiKey : 0,
    alarms: assumed.alarmMetrics + (settings.deploysByCanary ? assumed.canaryAlarmMetrics : 0),
    dashboards: assumed.dashboards,
    contributorRules: assumed.contributorRules,
    traces: (tracesPerSecond * SECONDS_PER_MONTH) / 1e6,
    webAcls,
    webAclRules: webAcls * assumed.webAclRules,
    webAclRequests: (webAcls * requests) / 1e6,
    transferOut: (requests * perRequest(assumed.answerBytes)) / GB,
  };
}

/**
 * Read units of a page of a list. Each key is asked for the whole page and one pet more, which tells whether there is a next
 * page, and what it gives is rounded up to 4 KB for itself; half a unit each, as indexes are read eventually consistently.
 */
export function listReadUnits(partitions: number, pets: number, petBytes: number): number {
  return partitions * Math.ceil(((pets + 1) * petBytes) / 4_096) * 0.5;
}

/** US dollars that a month of a stage costs at a steady rate, by price. The formula is in `docs/cost.md`. */
export function monthlyCost(settings: StageSettings, perSecond: number, assumed = assumptions): Amounts {
  const use = monthlyUse(settings, perSecond, assumed);
  return Object.fromEntries(
    priceNames.map((name) => [name, charge(prices[name].dollars, use[name])]),
  ) as Amounts;
}

function charge(price: Price['dollars'], units: number): number {
  if (typeof price === 'number') return price * units;
  const inTier = (upTo: number, tier: number) => Math.min(units, upTo) - (price[tier - 1]?.[0] ?? 0);
  return sum(price.map(([upTo, dollars], tier) => dollars * Math.max(0, inTier(upTo, tier))));
}

export const priceNames = Object.keys(prices) as (keyof Amounts)[];

export function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
