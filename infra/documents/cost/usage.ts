import { markdownList } from '../markdown.ts';
import type { StageContents } from './contents.ts';

const SECONDS_PER_MONTH = 2_628_000;
const SECONDS_PER_DAY = 86_400;
const DAYS_PER_MONTH = SECONDS_PER_MONTH / SECONDS_PER_DAY;
const GB = 2 ** 30;
/** Assumed ratio of the compressed logs that CloudWatch stores to the ingested logs. */
export const LOG_COMPRESSION = 0.2;
/** X-Ray records the first request of each second, and this share of the others. */
const RECORDED_SHARE = 0.05;
/** DynamoDB charges for these bytes of each item in a table or index, in addition to the item's size. */
const ITEM_OVERHEAD_BYTES = 100;

/** Assumptions of the example in docs/cost.md. */
const example = {
  /** Shares of all requests. */
  lists: 0.8,
  gets: 0.15,
  creates: 0.05,
  /** Share of the creates that have an `Idempotency-Key`. */
  createsWithKey: 0.5,
  petsPerList: 20,
  billedMs: 8,
  billedMsWithKey: 14,
  petBytes: 165,
  recordBytes: 175,
  /** Share of the pets that have a status. An index for another filter is assumed to contain the same share. */
  petsWithStatus: 0.9,
  monthsOfPets: 12,
  daysOfRecords: 3,
  apiKeys: 100,
  logBytes: 600,
  responseBytes: 2_175,
};

/** Units per month that depend on the number of requests. */
export interface Usage {
  requests: number;
  invocations: number;
  gbSeconds: number;
  logGb: number;
  storedLogGb: number;
  responseGb: number;
  readUnits: number;
  writeUnits: number;
  /** Size of the tables and indexes. */
  storedGb: number;
  /** Size of the tables, which point-in-time recovery stores again. */
  recoveryGb: number;
  traces: number;
}

/** Returns the example's usage at a constant rate. */
export function usageOf(
  requestsPerSecond: number,
  { stage, petIndexes, functionMegabytes }: StageContents,
): Usage {
  const requests = requestsPerSecond * SECONDS_PER_MONTH;
  const creates = requests * example.creates;
  const createsWithKey = creates * example.createsWithKey;
  const invocations = requests + authorizerCalls(requestsPerSecond, stage.authorizerCacheSeconds);
  const billedMs =
    invocations * example.billedMs + createsWithKey * (example.billedMsWithKey - example.billedMs);

  // Each query reads one pet more than the page contains, so that the last page has no link to another page.
  const queryBlocks = Math.ceil(((example.petsPerList + 1) * example.petBytes) / 4_096);
  const listUnits = 0.5 * stage.listPartitions * queryBlocks;
  // Each pet is in the table and in the index `newest`. All other indexes are for filters.
  const copiesPerPet = 2 + (petIndexes - 1) * example.petsWithStatus;

  const petsGb = (creates * example.monthsOfPets * (example.petBytes + ITEM_OVERHEAD_BYTES)) / GB;
  const recordsPerDay = createsWithKey / DAYS_PER_MONTH;
  const recordsGb =
    (recordsPerDay * example.daysOfRecords * (example.recordBytes + ITEM_OVERHEAD_BYTES)) / GB;
  const logGb = (requests * example.logBytes) / GB;
  return {
    requests,
    invocations,
    gbSeconds: (billedMs / 1_000) * (functionMegabytes / 1_024),
    logGb,
    storedLogGb: logGb * LOG_COMPRESSION * (stage.logRetentionDays / DAYS_PER_MONTH),
    responseGb: (requests * example.responseBytes) / GB,
    readUnits: requests * (example.lists * listUnits + example.gets) + (invocations - requests),
    writeUnits: creates * Math.ceil(example.petBytes / 1_024) * copiesPerPet + createsWithKey,
    storedGb: petsGb * copiesPerPet + recordsGb,
    recoveryGb: petsGb + recordsGb,
    traces: SECONDS_PER_MONTH * tracesPerSecond(requestsPerSecond),
  };
}

/** Returns the authorizer calls per month. Each API key's cached result expires, and the key's next request renews it. */
function authorizerCalls(requestsPerSecond: number, cacheSeconds: number): number {
  const secondsBetweenRequests = example.apiKeys / requestsPerSecond;
  return (example.apiKeys * SECONDS_PER_MONTH) / (cacheSeconds + secondsBetweenRequests);
}

function tracesPerSecond(requestsPerSecond: number): number {
  const first = Math.min(requestsPerSecond, 1);
  return first + RECORDED_SHARE * (requestsPerSecond - first);
}

const percent = (share: number) => `${share * 100}%`;

/** Returns the example's assumptions as a Markdown list. */
export function assumptionList(functionMegabytes: number): string {
  return markdownList([
    `**Requests**: ${percent(example.lists)} list ${example.petsPerList} pets, ${percent(example.gets)} fetch a pet, and ` +
      `${percent(example.creates)} create a pet. ${percent(example.createsWithKey)} of the creates have an \`Idempotency-Key\`. ` +
      `On average, a response has ${example.responseBytes.toLocaleString('en')} bytes, and a request adds ` +
      `${example.logBytes} bytes of logs. No request fails.`,
    `**Functions**: Lambda bills ${example.billedMs} ms for an invocation, or ${example.billedMsWithKey} ms with an ` +
      `\`Idempotency-Key\`. A function has ${functionMegabytes} MB of memory.`,
    `**Data**: A pet has ${example.petBytes} bytes, and an idempotency record ${example.recordBytes} bytes. ` +
      `${percent(example.petsWithStatus)} of the pets have a status. The tables contain ${example.monthsOfPets} months of ` +
      `pets and ${example.daysOfRecords} days of idempotency records.`,
    `**Clients** use ${example.apiKeys} API keys.`,
  ]);
}
