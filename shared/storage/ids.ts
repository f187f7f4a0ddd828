import { randomInt } from 'node:crypto';
import { UnavailableError } from './database.ts';

/** Ids contain the milliseconds since this time. The milliseconds fit in 41 bits until September 2094. */
const EPOCH = Date.UTC(2025, 0, 1);
const RANDOM_VALUES = 2 ** 12;

/**
 * Returns a new id of up to 53 bits, which all JSON clients read exactly (RFC 8259 section 6). The id contains the
 * milliseconds since 2025 and 12 random bits. The id can already be in use, so a conditional write must enforce uniqueness.
 *
 * @throws UnavailableError if the clock is before 2025 or after September 2094. A retry can reach another instance.
 */
export function newId(now: number = Date.now(), random: number = randomInt(RANDOM_VALUES)): bigint {
  const id = BigInt(now - EPOCH) * BigInt(RANDOM_VALUES) + BigInt(random);
  if (id >= 1n && id <= Number.MAX_SAFE_INTEGER) return id;
  throw new UnavailableError(`The clock is wrong. It shows ${new Date(now).toISOString()}.`);
}

/** Returns the list partition of an item. Retries of a create use the same partition, because the id is the same. */
export function listPartitionOf(id: bigint, partitions: number): string {
  return (id % BigInt(partitions)).toString();
}

/** Returns the limit of a partition's first query. With up to 16 partitions, at least 97% of lists need no further query. */
export function queryLimit(items: number, partitions: number): number {
  const mean = items / partitions;
  return Math.min(items, Math.ceil(mean + 3 * Math.sqrt(mean) + 1));
}
