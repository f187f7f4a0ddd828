import { randomInt } from 'node:crypto';

/** 2025-01-01T00:00:00Z. 41 bits of milliseconds last until September 2094. */
const EPOCH = Date.UTC(2025, 0, 1);
const RANDOM_VALUES = 2 ** 12;

/**
 * Returns a new id of 53 bits: milliseconds since 2025 and 12 random bits. All JSON clients read it exactly (RFC 8259
 * section 6). The id may already be taken, so a conditional write must enforce uniqueness.
 */
export function newPetId(now: number = Date.now(), random: number = randomInt(RANDOM_VALUES)): bigint {
  return BigInt(now - EPOCH) * BigInt(RANDOM_VALUES) + BigInt(random);
}

/** Returns the list partition of a pet. It is derived from the random bits of the id, so retries use the same one. */
export function listPartitionOf(id: bigint, partitions: number): string {
  return (id % BigInt(partitions)).toString();
}

/** Returns a count that no partition's share of the newest `pets` exceeds in 97% of lists with up to 16 partitions. */
export function likelyShare(pets: number, partitions: number): number {
  const mean = pets / partitions;
  return Math.min(pets, Math.ceil(mean + 3 * Math.sqrt(mean) + 1));
}
