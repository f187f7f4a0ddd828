import { environmentVariables, requireEnvironment } from './names.ts';

// The items of a list are spread over list partitions, because an index accepts only 1,000 write units per second for
// one partition key value. The number of list partitions can change over time, and each change starts an epoch. An id
// contains the time at which it was generated, so the id alone determines the epoch and the partition of its item.
// Therefore, instances agree on an item's partition even if their clocks differ.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html

/** Period that starts at `since` (ISO 8601, UTC), and in which new items are spread over `count` list partitions. */
export interface ListEpoch {
  since: string;
  count: number;
}

/**
 * Start of the first epoch. Ids contain the milliseconds since this time, which fit in 41 bits until September 2094.
 */
export const ID_START = '2025-01-01T00:00:00Z';
/** Number of different ids that can be generated in a millisecond. The last 12 bits of an id are random. */
export const IDS_PER_MILLISECOND = 2 ** 12;
const LOWEST_ID = -(2n ** 63n);
/** All ids are below this number, so that JSON parsers that use doubles read them exactly (RFC 8259 section 6). */
export const ID_LIMIT = BigInt(Number.MAX_SAFE_INTEGER) + 1n;

/** Returns the lowest id that can be generated in the millisecond `time`. @param time milliseconds since 1970 */
export function firstIdAt(time: number): bigint {
  return BigInt(time - Date.parse(ID_START)) * BigInt(IDS_PER_MILLISECOND);
}

/** Ids from `start` up to the start of the next epoch, which are spread over `count` list partitions. */
export interface IdRange {
  start: bigint;
  count: number;
}

/** Returns the epochs of this stage, newest first. @throws Error if the environment variable has no valid epochs */
export function listEpochs(): IdRange[] {
  const epochs = JSON.parse(requireEnvironment(environmentVariables.listPartitions)) as ListEpoch[];
  // If the only epoch had no list partition, lists would be empty, and no error would show the cause.
  if (!epochs.every(({ count }) => Number.isInteger(count) && count >= 1) || epochs[0]?.since !== ID_START)
    throw new Error(`${environmentVariables.listPartitions} must contain epochs as in infra/stages.ts.`);
  // The first epoch starts at the lowest int64, so that every id belongs to an epoch.
  const startOf = (since: string) => (since === ID_START ? LOWEST_ID : firstIdAt(Date.parse(since)));
  return epochs.map(({ since, count }) => ({ start: startOf(since), count })).toReversed();
}

/** Returns the epoch that an id belongs to. @param epochs result of `listEpochs` */
export function epochOf(id: bigint, epochs: IdRange[]): IdRange {
  return epochs.find(({ start }) => start <= id)!;
}

/** Returns the list partition of an item. Retries of a create use the same partition, because the id is the same. */
export function listPartitionOf(id: bigint, epochs: IdRange[]): string {
  return (id % BigInt(epochOf(id, epochs).count)).toString();
}

/** A list partition. All of its items that are still to be read have ids below `below`. */
export interface Unread {
  partition: string;
  below: bigint;
}

/** Returns the list partitions that can contain items with ids below `end`, those with the newest items first. */
export function partitionsBelow(end: bigint, epochs: IdRange[]): Unread[] {
  const unread: Unread[] = [];
  let below = end;
  for (const { start, count } of epochs) {
    if (start >= end) continue;
    // The partitions with lower numbers are already in the result, because a newer epoch has them too.
    for (let index = unread.length; index < count; index += 1) unread.push({ partition: `${index}`, below });
    below = start;
  }
  return unread;
}

/**
 * Returns the limit of a partition's first query: the partition's expected share of the items plus three standard
 * deviations. With up to 16 partitions, at least 97% of lists within an epoch need no further query.
 *
 * @param items number of items to read from all partitions together
 */
export function queryLimit(items: number, partitions: number): number {
  const mean = items / partitions;
  return Math.min(items, Math.ceil(mean + 3 * Math.sqrt(mean) + 1));
}
