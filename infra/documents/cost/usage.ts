import * as v from 'valibot';
import type { Collection } from '../../../shared/contract/collection.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { listIndexes } from '../../../shared/list-indexes.ts';
import { latestCount, listReadUnits } from '../../capacity.ts';
import type { Stage } from '../../settings.ts';
import { markdownList } from '../markdown.ts';
import type { StageContents } from './contents.ts';

const SECONDS_PER_MONTH = 2_628_000;
const SECONDS_PER_DAY = 86_400;
export const DAYS_PER_MONTH = SECONDS_PER_MONTH / SECONDS_PER_DAY;
const GB = 2 ** 30;
/** Assumed ratio of the compressed logs that CloudWatch stores to the ingested logs. */
export const LOG_COMPRESSION = 0.2;
/** DynamoDB charges for these bytes of each item in a table or index, in addition to the item's size. */
const ITEM_OVERHEAD_BYTES = 100;

/** The collection of the example in docs/cost.md. */
const [collection] = collections;
const { singular, plural } = collection;

/** Assumed size in bytes of an item with the attribute `creation`, but without the keys of its indexes. */
const BYTES_WITHOUT_KEYS = 129;
/** Assumed share of the items that have a value for an optional field. */
const OPTIONAL_SHARE = 0.9;

/** Sizes on which the cost of storing and reading a collection's items depends. */
export interface ItemSize {
  /** Size in bytes of an item in the table, and in each index that contains the item. */
  bytes: number;
  /** Share of the items that each index contains. */
  indexShares: number[];
}

/**
 * Returns the assumed size of a collection's items. In the keys of the indexes, each field has the value of its filter's
 * example. If an index is deployed before its filter, the field has the value of its own example.
 */
export function itemSize({ item, filters, filterCombinations }: Collection): ItemSize {
  const indexes = listIndexes({ filterCombinations });
  const keys = indexes.map((index) => {
    const values = index.filters.map((name) =>
      String(v.getExamples((filters[name] ?? item.entries[name]) as never)[0]),
    );
    return `${index.partitionKey}${[...values, '0'].join('#')}`;
  });
  // An index contains the items that have a value for each of its filters. All items have values for required fields.
  const optional = (name: string) => item.entries[name]!.type === 'exact_optional';
  return {
    bytes: BYTES_WITHOUT_KEYS + Buffer.byteLength(keys.join('')),
    indexShares: indexes.map((index) => OPTIONAL_SHARE ** index.filters.filter(optional).length),
  };
}

/** Assumed size in bytes of a stored item. */
export const ITEM_BYTES = itemSize(collection).bytes;

/** Shares of all requests by kind of operation. Their sum is 1. */
export interface Mix {
  lists: number;
  gets: number;
  creates: number;
}

/** Traffic and data of a stage in a month. */
export interface Workload {
  /** Constant rate of all requests. */
  requestsPerSecond: number;
  /** @default - the example's */
  mix: Mix;
  /** Number of items in the table of the first collection. @default - what the creates of the example's months add */
  storedItems: number;
  /** @default - the size of the first collection's items */
  item: ItemSize;
  /** Number of list partitions that a list queries. @default - the stage's setting */
  listPartitions: number;
  /** Share of requests that X-Ray records after the first request of each second. @default - the stage's setting */
  tracedShare: number;
}

/** A workload whose missing values have the defaults of `Workload`. */
export type PartialWorkload = Partial<Workload> & Pick<Workload, 'requestsPerSecond'>;

/** Assumptions of the example. A workload can replace those that `Workload` contains. */
const example = {
  mix: { lists: 0.8, gets: 0.15, creates: 0.05 },
  /** Share of the creates that have an `Idempotency-Key`. */
  createsWithKey: 0.5,
  itemsPerList: 20,
  billedMs: 8,
  billedMsWithKey: 14,
  /** Memory size with which the durations were measured. */
  billedMegabytes: 512,
  recordBytes: 255,
  monthsOfItems: 12,
  daysOfRecords: 3,
  apiKeys: 100,
  metricBytes: 220,
  responseBytes: { lists: 2_530, gets: 770, creates: 670, notFound: 450 },
};

/** Units per month that depend on the number of requests and items. */
export interface Usage {
  requests: number;
  invocations: number;
  gbSeconds: number;
  accessLogGb: number;
  functionLogGb: number;
  storedLogGb: number;
  customMetrics: number;
  responseGb: number;
  readUnits: number;
  writeUnits: number;
  /** Size of the tables and indexes. */
  storedGb: number;
  /** Size of the tables, which point-in-time recovery stores again. */
  recoveryGb: number;
  /** Size of the daily backups and of their copies. Each contains all items. */
  backupGb: number;
  traces: number;
}

/** Returns the usage of a workload. The assumptions that `Workload` does not contain are the example's. */
export function usageOf(
  partial: PartialWorkload,
  { stage, functionMegabytes, tracesPerSecond, accessLogBytes, backupDays }: StageContents,
): Usage {
  const { requestsPerSecond, mix, storedItems, item, listPartitions, tracedShare } = workloadOf(
    partial,
    stage,
  );
  const requests = requestsPerSecond * SECONDS_PER_MONTH;
  const creates = requests * mix.creates;
  const createsWithKey = creates * example.createsWithKey;
  const invocations = requests + authorizerCalls(requestsPerSecond, stage.authorizerCacheSeconds);
  const billedMs =
    invocations * example.billedMs + createsWithKey * (example.billedMsWithKey - example.billedMs);
  const metrics = metricShares(mix);
  const accessLogGb = (requests * accessLogBytes.list) / GB;
  const functionLogGb = (requests * sum(metrics) * example.metricBytes) / GB;

  const listUnits = listReadUnits(example.itemsPerList, listPartitions, item.bytes);
  const copiesPerItem = 1 + sum(item.indexShares);

  const itemsGb = (storedItems * (item.bytes + ITEM_OVERHEAD_BYTES)) / GB;
  const recordsPerDay = createsWithKey / DAYS_PER_MONTH;
  const recordsGb =
    (recordsPerDay * example.daysOfRecords * (example.recordBytes + ITEM_OVERHEAD_BYTES)) / GB;
  return {
    requests,
    invocations,
    gbSeconds: (billedMs / 1_000) * (functionMegabytes / 1_024),
    accessLogGb,
    functionLogGb,
    storedLogGb: storedLogs(accessLogGb + functionLogGb, stage),
    // A metric filter counts the requests with active API keys.
    customMetrics: requests > 0 ? 1 + metrics.filter((share) => share > 0).length : 0,
    responseGb: (requests * averageResponseBytes(mix)) / GB,
    readUnits: requests * (mix.lists * listUnits + mix.gets) + (invocations - requests),
    writeUnits: creates * Math.ceil(item.bytes / 1_024) * copiesPerItem + createsWithKey,
    storedGb: itemsGb * copiesPerItem + recordsGb,
    recoveryGb: itemsGb + recordsGb,
    backupGb: itemsGb * backupDays,
    traces: SECONDS_PER_MONTH * recordedPerSecond(requestsPerSecond, tracesPerSecond, tracedShare),
  };
}

/** Returns the requests per second that one IP address can send to one method. */
export function floodRate({ firewall, requestsPerSecond }: Stage): number {
  return firewall?.action === 'block' ? firewall.requestsPerMinutePerIp / 60 : requestsPerSecond;
}

/**
 * Returns the usage of clients without an API key that send requests to one method for a month. Mock integrations respond
 * with a 404.
 *
 * @param rate requests per second
 */
export function floodUsage(rate: number, contents: StageContents): Usage {
  const { stage, tracesPerSecond, accessLogBytes } = contents;
  const { tracedShare } = stage;
  const requests = rate * SECONDS_PER_MONTH;
  const accessLogGb = (requests * accessLogBytes.anonymous) / GB;
  return {
    ...usageOf({ requestsPerSecond: 0 }, contents),
    requests,
    accessLogGb,
    storedLogGb: storedLogs(accessLogGb, stage),
    // A metric filter counts these 404s by status and type, so CloudWatch charges for one custom metric.
    customMetrics: 1,
    responseGb: (requests * example.responseBytes.notFound) / GB,
    traces: SECONDS_PER_MONTH * recordedPerSecond(rate, tracesPerSecond, tracedShare),
  };
}

/** Returns the GB of compressed logs that CloudWatch stores if the same GB are logged in each month. */
function storedLogs(loggedGb: number, { logRetentionDays }: Stage): number {
  return loggedGb * LOG_COMPRESSION * (logRetentionDays / DAYS_PER_MONTH);
}

function workloadOf(partial: PartialWorkload, stage: Stage): Workload {
  const { requestsPerSecond, mix = example.mix } = partial;
  return {
    mix,
    storedItems: requestsPerSecond * SECONDS_PER_MONTH * mix.creates * example.monthsOfItems,
    item: itemSize(collection),
    listPartitions: latestCount(stage),
    tracedShare: stage.tracedShare,
    ...partial,
  };
}

/** Returns the authorizer calls per month. Each API key's cached result expires, and the key's next request renews it. */
function authorizerCalls(requestsPerSecond: number, cacheSeconds: number): number {
  const secondsBetweenRequests = example.apiKeys / requestsPerSecond;
  return (example.apiKeys * SECONDS_PER_MONTH) / (cacheSeconds + secondsBetweenRequests);
}

/** Returns the share of the requests that emit each metric: creates, and calls to each deprecated operation. */
function metricShares(mix: Mix): number[] {
  const { list, get, create }: Record<'list' | 'get' | 'create', Operation> = collection.operations;
  const byOperation: [Operation, number][] = [
    [list, mix.lists],
    [get, mix.gets],
    [create, mix.creates],
  ];
  const deprecated = byOperation.filter(([{ deprecation }]) => deprecation);
  return [mix.creates, ...deprecated.map(([, share]) => share)];
}

function averageResponseBytes({ lists, gets, creates }: Mix): number {
  const { responseBytes } = example;
  return lists * responseBytes.lists + gets * responseBytes.gets + creates * responseBytes.creates;
}

/** Returns the traces per second. X-Ray records the first `reservoir` requests of a second, and a share of the others. */
function recordedPerSecond(requestsPerSecond: number, reservoir: number, share: number): number {
  const first = Math.min(requestsPerSecond, reservoir);
  return first + share * (requestsPerSecond - first);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const percent = (share: number) => share.toLocaleString('en', { style: 'percent', maximumFractionDigits: 1 });

const bytes = (number: number) => `${number.toLocaleString('en')} bytes`;

/** Returns the example's assumptions as a Markdown list. */
export function assumptionList({ functionMegabytes, accessLogBytes }: StageContents): string {
  const { mix, responseBytes } = example;
  const { indexShares } = itemSize(collection);
  const shares = indexShares.slice(1).map(percent);
  const filtered = `The indexes for filters contain ${shares.join(', ')} of the ${plural}. `;
  return markdownList([
    `**Requests**: ${percent(mix.lists)} list ${example.itemsPerList} ${plural}, ${percent(mix.gets)} fetch one, and ` +
      `${percent(mix.creates)} create one. ${percent(example.createsWithKey)} of the creates have an \`Idempotency-Key\`. ` +
      `No request fails.`,
    `**Responses** have ${bytes(responseBytes.lists)} for a list, ${bytes(responseBytes.gets)} for a fetched ${singular}, ` +
      `${bytes(responseBytes.creates)} for a created ${singular}, and ` +
      `${bytes(responseBytes.notFound)} for a 404 without an API key, including headers.`,
    `**Logs**: A request adds ${bytes(accessLogBytes.list)} to the access log, or ${bytes(accessLogBytes.anonymous)} without an API key. A create, or a call to a deprecated ` +
      `operation, adds a metric of ${bytes(example.metricBytes)} to a function's log.`,
    `**Functions**: Lambda bills ${example.billedMs} ms for an invocation, or ${example.billedMsWithKey} ms with an ` +
      `\`Idempotency-Key\`. These durations hold for ${example.billedMegabytes} MB of memory. A function has ` +
      `${functionMegabytes} MB.`,
    `**Data**: Each ${singular} has ${ITEM_BYTES} bytes, and each idempotency record ${example.recordBytes} ` +
      `bytes. ${shares.length > 0 ? filtered : ''}The tables contain ${example.monthsOfItems} months of ${plural} and ` +
      `${example.daysOfRecords} days of idempotency records.`,
    `**Clients** use ${example.apiKeys} API keys.`,
  ]);
}
