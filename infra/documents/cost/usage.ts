import * as v from 'valibot';
import type { Collection } from '../../../shared/contract/collection.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { listIndexes } from '../../../shared/list-indexes.ts';
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

/** The collection of the example in docs/cost.md. */
const [collection] = collections;
const { singular, plural } = collection;

/** Assumed size in bytes of an item with the attribute `creation`, but without the keys of its indexes. */
const BYTES_WITHOUT_KEYS = 129;

/** Size in bytes of the keys of an item's indexes, such as `newest` and `newest-by-genre`, with the examples of the fields. */
function keyBytes({ item, ...others }: Collection): number {
  const keys = listIndexes(others).map(({ filters, partitionKey }) => {
    const values = filters.map((name) => String(v.getExamples(item.entries[name] as never)[0]));
    return `${partitionKey}${[...values, '0'].join('#')}`;
  });
  return Buffer.byteLength(keys.join(''));
}

/** Assumed size in bytes of a stored item. */
export const ITEM_BYTES = BYTES_WITHOUT_KEYS + keyBytes(collection);

/** Assumptions of the example. */
const example = {
  /** Shares of all requests. */
  lists: 0.8,
  gets: 0.15,
  creates: 0.05,
  /** Share of the creates that have an `Idempotency-Key`. */
  createsWithKey: 0.5,
  itemsPerList: 20,
  billedMs: 8,
  billedMsWithKey: 14,
  itemBytes: ITEM_BYTES,
  recordBytes: 175,
  /** Share of the items that an index for a filter contains. */
  filteredShare: 0.9,
  monthsOfItems: 12,
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
  { stage, indexes, functionMegabytes }: StageContents,
): Usage {
  const requests = requestsPerSecond * SECONDS_PER_MONTH;
  const creates = requests * example.creates;
  const createsWithKey = creates * example.createsWithKey;
  const invocations = requests + authorizerCalls(requestsPerSecond, stage.authorizerCacheSeconds);
  const billedMs =
    invocations * example.billedMs + createsWithKey * (example.billedMsWithKey - example.billedMs);

  // Each query reads one item more than the page contains, so that the last page has no link to another page.
  const queryBlocks = Math.ceil(((example.itemsPerList + 1) * example.itemBytes) / 4_096);
  const listUnits = 0.5 * stage.listPartitions.at(-1)!.count * queryBlocks;
  // Each item is in the table and in the index `newest`. All other indexes are for filters.
  const copiesPerItem = 2 + (indexes - 1) * example.filteredShare;

  const itemsGb = (creates * example.monthsOfItems * (example.itemBytes + ITEM_OVERHEAD_BYTES)) / GB;
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
    writeUnits: creates * Math.ceil(example.itemBytes / 1_024) * copiesPerItem + createsWithKey,
    storedGb: itemsGb * copiesPerItem + recordsGb,
    recoveryGb: itemsGb + recordsGb,
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
export function assumptionList({ functionMegabytes, indexes }: StageContents): string {
  const filtered = `Each index for a filter contains ${percent(example.filteredShare)} of the ${plural}. `;
  return markdownList([
    `**Requests**: ${percent(example.lists)} list ${example.itemsPerList} ${plural}, ${percent(example.gets)} fetch one, and ` +
      `${percent(example.creates)} create one. ${percent(example.createsWithKey)} of the creates have an \`Idempotency-Key\`. ` +
      `On average, a response has ${example.responseBytes.toLocaleString('en')} bytes, and a request adds ` +
      `${example.logBytes} bytes of logs. No request fails.`,
    `**Functions**: Lambda bills ${example.billedMs} ms for an invocation, or ${example.billedMsWithKey} ms with an ` +
      `\`Idempotency-Key\`. A function has ${functionMegabytes} MB of memory.`,
    `**Data**: Each ${singular} has ${example.itemBytes} bytes, and each idempotency record ${example.recordBytes} ` +
      `bytes. ${indexes > 1 ? filtered : ''}The tables contain ${example.monthsOfItems} months of ${plural} and ` +
      `${example.daysOfRecords} days of idempotency records.`,
    `**Clients** use ${example.apiKeys} API keys.`,
  ]);
}
