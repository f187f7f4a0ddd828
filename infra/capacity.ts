import * as v from 'valibot';
import type { Collection } from '../shared/contract/collection.ts';
import { collections } from '../shared/contract/operations.ts';
import { listIndexes } from '../shared/list-indexes.ts';
import { type ListEpoch, queryLimit } from '../shared/list-partitions.ts';
import { UsageError } from './command.ts';

/**
 * Maximum number of list partitions. For 100,000 creates per second of items with two write units, `createCapacity`
 * requires 250. There must be a maximum, because a list queries each list partition, for at least half a read unit and
 * about 0.2 ms of CPU time.
 */
export const MAX_LIST_PARTITIONS = 256;

/** AWS's fixed limits and default quotas in most regions, per second. */
export const awsLimits = {
  /**
   * Rate and burst of the requests to all APIs of an account in a region.
   * https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
   */
  gatewayRequests: 10_000,
  gatewayBurst: 5_000,
  /**
   * Invocations per second: 10 for each concurrent execution that the account's quota allows, which is 1,000 by default.
   * https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
   */
  lambdaInvocations: 10_000,
  /** Requests per second to a web ACL. https://docs.aws.amazon.com/waf/latest/developerguide/limits.html */
  webAclRequests: 100_000,
  /**
   * Units per second of all items with the same partition key value, if the sort key increases with time.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
   */
  keyReads: 3_000,
  keyWrites: 1_000,
  /**
   * Units per second that a new table or index supports at once.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html
   */
  warmReads: 12_000,
  warmWrites: 4_000,
  /**
   * Units per second of a table or an index.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Limits.html
   */
  tableReads: 40_000,
  tableWrites: 40_000,
} as const;

/**
 * Shares of the creates that DynamoDB accepts per second, which are safe as the rate and the burst of a create method.
 * If clients send three times as many creates as this rate and burst allow, the excess creates get a 429, and nearly
 * none of the others gets a 503. `npm run capacity` simulates such bursts for "Bursts of creates" in docs/scaling.md.
 */
const SAFE_RATE = 0.8;
const SAFE_BURST = 0.2;

/** Settings that determine how many creates DynamoDB accepts. */
interface Capacity {
  listPartitions: readonly ListEpoch[];
  maxWriteUnitsPerSecond: number;
}

/**
 * Returns the highest safe rate and burst of a create method in the present epoch and all later ones, and the reason.
 *
 * @param now milliseconds since 1970
 */
export function createCapacity({ listPartitions, maxWriteUnitsPerSecond }: Capacity, now: number) {
  const [fewest] = presentEpochs(listPartitions, now).toSorted((one, other) => one.count - other.count);
  const ofPartitions = fewest!.count * awsLimits.keyWrites;
  const units = largestItemUnits();
  const creates = Math.min(ofPartitions, maxWriteUnitsPerSecond) / units;
  const limit =
    ofPartitions <= maxWriteUnitsPerSecond
      ? `listPartitions has a count of ${fewest!.count} from ${fewest!.since}`
      : `maxWriteUnitsPerSecond is ${maxWriteUnitsPerSecond}`;
  return {
    rate: Math.max(1, Math.floor(SAFE_RATE * creates)),
    burst: Math.max(1, Math.floor(SAFE_BURST * creates)),
    reason:
      `DynamoDB accepts ${Math.floor(creates)} creates of ${units} write units per second, because ${limit}, ` +
      `and ${SAFE_RATE * 100}% of them are safe as a rate and ${SAFE_BURST * 100}% as a burst`,
  };
}

/**
 * Returns the read units per second that `requestsPerSecond` lists of the shortest pages take, in the present or later
 * epoch with the most list partitions.
 *
 * @param now milliseconds since 1970
 */
export function leastReadUnits(
  { listPartitions, requestsPerSecond }: { listPartitions: readonly ListEpoch[]; requestsPerSecond: number },
  now: number,
): number {
  const counts = presentEpochs(listPartitions, now).map(({ count }) => count);
  // The shortest page has one small item.
  return Math.ceil(requestsPerSecond * listReadUnits(1, Math.max(...counts), 1));
}

/**
 * Returns the read units of a list, if it needs no second round of queries. A query that is not strongly consistent reads up
 * to 4 KB with half a read unit.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 *
 * @param items number of items on the page. The queries read one item more, to determine whether there is another page.
 */
export function listReadUnits(items: number, listPartitions: number, itemBytes: number): number {
  const bytesOfQuery = queryLimit(items + 1, listPartitions) * itemBytes;
  return listPartitions * Math.ceil(bytesOfQuery / 4_096) * 0.5;
}

/** Returns the present epoch and all later ones. */
function presentEpochs(epochs: readonly ListEpoch[], now: number): readonly ListEpoch[] {
  return epochs.slice(epochs.findLastIndex(({ since }) => Date.parse(since) <= now));
}

/** Returns the number of list partitions in the latest epoch. */
export function latestCount({ listPartitions }: { listPartitions: readonly ListEpoch[] }): number {
  return listPartitions.at(-1)!.count;
}

/**
 * Returns the write units, list partitions and burst with which `createCapacity` allows a number of creates per second.
 *
 * @param units write units of each create @default - those of the largest item
 */
export function createsFrom(creates: number, units: number = largestItemUnits()) {
  const writeUnits = Math.ceil((creates * units) / SAFE_RATE);
  return {
    /** Write units per second of the table and of each index. */
    writeUnits,
    partitions: Math.ceil(writeUnits / awsLimits.keyWrites),
    burst: (creates * SAFE_BURST) / SAFE_RATE,
  };
}

/** Returns the write units of the largest item of all collections. An item takes one unit for each started KB. */
export function largestItemUnits(): number {
  return Math.max(...collections.map((each) => Math.ceil(largestItemBytes(each) / 1_024)));
}

/**
 * Returns the bytes of the largest item that clients can create, with the attribute `creation` and the keys of its
 * indexes.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function largestItemBytes({ item, ...others }: Collection): number {
  const bytes = (name: string) => largestValueBytes(name, item.entries[name]);
  const fields = Object.keys(item.entries).map((name) => name.length + bytes(name));
  const creation = 'creation'.length + 64; // hexadecimal SHA-256
  const partition = `${MAX_LIST_PARTITIONS}`.length;
  const keys = listIndexes(others).map(({ filters, partitionKey }) =>
    filters.reduce((sum, name) => sum + bytes(name) + 1, partitionKey.length + partition),
  );
  return [...fields, creation, ...keys].reduce((sum, size) => sum + size, 0);
}

/** Returns the size of a field's largest value in bytes. */
function largestValueBytes(name: string, schema: any): number {
  if (schema.type === 'exact_optional') return largestValueBytes(name, schema.wrapped);
  if (schema.type === 'picklist')
    return Math.max(...schema.options.map((option: string) => Buffer.byteLength(option)));
  const { type, maxLength } = v.getMetadata(schema) as { type?: string; maxLength?: number };
  if (type === 'integer') return 21;
  if (type === 'string' && maxLength) return 4 * maxLength; // UTF-8
  throw new UsageError(`Add the size of the field ${name} to largestValueBytes in infra/capacity.ts.`);
}
