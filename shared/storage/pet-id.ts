import { randomInt } from 'node:crypto';

/** 2025-01-01T00:00:00Z. 41 bits of milliseconds from here last until September 2094. */
const EPOCH = Date.UTC(2025, 0, 1);
const RANDOM_VALUES = 2 ** 12;

/**
 * A new identifier: milliseconds since 2025 and 12 random bits, 53 bits in all, which every JSON client reads exactly
 * (RFC 8259 section 6). It may be taken: a conditional write enforces uniqueness.
 */
export function newPetId(now: number = Date.now(), random: number = randomInt(RANDOM_VALUES)): bigint {
  return BigInt(now - EPOCH) * BigInt(RANDOM_VALUES) + BigInt(random);
}

/** The list partition of a pet: it follows from the random bits of the identifier, so that retries agree. */
export function listPartitionOf(id: bigint, partitions: number): string {
  return (id % BigInt(partitions)).toString();
}

/** How many of the newest `pets` a partition holds at most, in 97 % of lists over up to 16 partitions. */
export function likelyShare(pets: number, partitions: number): number {
  const mean = pets / partitions;
  return Math.min(pets, Math.ceil(mean + 3 * Math.sqrt(mean) + 1));
}
