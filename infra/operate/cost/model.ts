import type { StageSettings } from '../../settings.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { likelyShare } from '../../../shared/storage/pet-id.ts';
import type { ResourceCounts } from './count.ts';
import { type Price, priceNames, prices } from './prices.ts';

/** Inputs that neither the settings nor the template contain. The bytes of stored items include attribute names. */
export const assumptions = {
  operationShares: { listPets: 0.8, getPet: 0.15, createPet: 0.05 },
  petsPerList: 20,
  /** Bytes of a pet with a `name` of 20 characters, including the create token and the keys of both indexes. */
  petBytes: 165,
  shareOfCreatesWithIdempotencyKey: 0.5,
  intentBytes: 175,
  /** Number of days that an intent is stored. An intent expires after 1 day, and TTL deletes it some days later. */
  daysOfIntents: 3,
  /** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
  storageOverheadBytes: 100,
  shareOfPetsWithStatus: 0.9,
  monthsOfPets: 12,
  /** Number of API keys in use. The model assumes that each key sends the same share of the requests. */
  apiKeys: 100,
  /** Milliseconds of a warm request at 512 MB, from docs/performance.md. The value of `intent` is an estimate. */
  billedMilliseconds: { listPets: 7.8, getPet: 7.7, createPet: 7.8, intent: 5.7, authorizer: 7 },
  /** Bytes of a response's status line, headers and body. */
  responseBytes: { listPets: 2_500, getPet: 900, createPet: 800 },
  accessLogBytes: 446,
  /** Bytes per request of the log lines that contain the metrics `DeprecatedCalls` and `PetsCreated`. */
  metricLogBytes: { listPets: 0, getPet: 290, createPet: 210 },
  /** Ratio of stored to ingested log bytes. In CloudWatch's pricing example, 30 GB are stored as 6 GB. */
  compressedLogShare: 0.2,
  /** Number of metrics that do not depend on the API keys: `PetsCreated`, and one for each error code or type. */
  metrics: 12,
  /** Number of metrics for each API key. Only `DeprecatedCalls` has the key id as a dimension. */
  metricsPerApiKey: 1,
  /** Share of requests that X-Ray traces by default, in addition to the first request of each second. */
  tracedShare: 0.05,
};

export type Amounts = Record<keyof typeof prices, number>;

interface Stage {
  settings: StageSettings;
  parts: ResourceCounts;
}

export const SECONDS_PER_MONTH = 730 * 3_600;
const GB = 2 ** 30;

/** Returns the units per month of each price at a steady request rate. docs/cost.md explains the formula. */
function monthlyUse({ settings, parts }: Stage, perSecond: number, assumed: typeof assumptions): Amounts {
  const { operationShares: shares, billedMilliseconds, apiKeys, petBytes } = assumed;
  const { memoryMegabytes, ...pieces } = parts;
  const perRequest = (figureOf: (operation: OperationId) => number): number =>
    sum((Object.keys(shares) as OperationId[]).map((name) => shares[name] * figureOf(name)));
  const requests = perSecond * SECONDS_PER_MONTH;
  // After the cached decision for a key expires, the key's next request calls the authorizer again.
  const secondsBetween = settings.authorizerCacheSeconds + apiKeys / perSecond;
  const authorizations = (apiKeys / secondsBetween) * SECONDS_PER_MONTH;
  const creates = requests * shares.createPet;
  const intents = creates * assumed.shareOfCreatesWithIdempotencyKey;
  const megabyteMilliseconds =
    requests * perRequest((operation) => billedMilliseconds[operation] * (memoryMegabytes[operation] ?? 0)) +
    intents * billedMilliseconds.intent * (memoryMegabytes['createPet'] ?? 0) +
    authorizations * billedMilliseconds.authorizer * (memoryMegabytes['authorizer'] ?? 0);

  const listUnits = listReadUnits(settings.listPartitions, assumed.petsPerList, petBytes);
  const readUnits = { listPets: listUnits, getPet: Math.ceil(petBytes / 4_096), createPet: 0 };
  const tableAndIndexes = 1 + 1 + assumed.shareOfPetsWithStatus;
  const petUnits = tableAndIndexes * Math.ceil(petBytes / 1_024);
  const intentUnits = Math.ceil(assumed.intentBytes / 1_024);
  const petsBytes = creates * assumed.monthsOfPets * (petBytes + assumed.storageOverheadBytes);
  const monthsOfIntents = (assumed.daysOfIntents * 86_400) / SECONDS_PER_MONTH;
  const intentsBytes = intents * monthsOfIntents * (assumed.intentBytes + assumed.storageOverheadBytes);

  const logBytes =
    requests * (assumed.accessLogBytes + perRequest((operation) => assumed.metricLogBytes[operation]));
  const monthsOfLogs = (settings.logRetentionDays * 86_400) / SECONDS_PER_MONTH;
  const tracesPerSecond = Math.min(perSecond, 1 + assumed.tracedShare * (perSecond - 1));

  return {
    ...pieces,
    requests: requests / 1e6,
    invocations: (requests + authorizations) / 1e6,
    duration: megabyteMilliseconds / 1_000 / 1_024,
    reads: (requests * perRequest((operation) => readUnits[operation]) + authorizations) / 1e6,
    writes: (creates * petUnits + intents * intentUnits) / 1e6,
    storage: (petsBytes * tableAndIndexes + intentsBytes) / GB,
    recovery: (petsBytes + intentsBytes) / GB,
    logs: logBytes / GB,
    logStorage: (logBytes * assumed.compressedLogShare * monthsOfLogs) / GB,
    metrics: requests > 0 ? assumed.metrics + apiKeys * assumed.metricsPerApiKey : 0,
    traces: (tracesPerSecond * SECONDS_PER_MONTH) / 1e6,
    webAclRequests: (parts.webAcls * requests) / 1e6,
    transferOut: (requests * perRequest((operation) => assumed.responseBytes[operation])) / GB,
  };
}

/** Returns the read units for one page. Each list partition is queried for its share of the pets. */
export function listReadUnits(partitions: number, pets: number, petBytes: number): number {
  return partitions * Math.ceil((likelyShare(pets + 1, partitions) * petBytes) / 4_096) * 0.5;
}

/** Returns the monthly cost of each price in US dollars, for a stage with a steady request rate. */
export function monthlyCost(stage: Stage, perSecond: number, assumed = assumptions): Amounts {
  const use = monthlyUse(stage, perSecond, assumed);
  return Object.fromEntries(
    priceNames.map((name) => [name, charge(prices[name].dollars, use[name])]),
  ) as Amounts;
}

function charge(price: Price['dollars'], units: number): number {
  if (typeof price === 'number') return price * units;
  const inTier = (upTo: number, tier: number) => Math.min(units, upTo) - (price[tier - 1]?.[0] ?? 0);
  return sum(price.map(([upTo, dollars], tier) => dollars * Math.max(0, inTier(upTo, tier))));
}

export function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
