import { randomInt } from 'node:crypto';

/** 2025-01-01T00:00:00Z. 41 bits of milliseconds from here last until September 2094. */
const EPOCH = Date.UTC(2025, 0, 1);
const RANDOM_VALUES = 2 ** 12;

/**
 * A new identifier: milliseconds since 2025 followed by 12 random bits, 53 bits in all, so that it grows with
 * time and every JSON client reads it exactly (RFC 8259 section 6). Two callers may draw the same one:
 * whoever stores it makes sure that it is free.
 */
export function newPetId(now: number = Date.now(), random: number = randomInt(RANDOM_VALUES)): bigint {
  return BigInt(now - EPOCH) * BigInt(RANDOM_VALUES) + BigInt(random);
}

/**
 * Under which of so many keys of a list index a pet is. It follows from the identifier, so that a repeated write is the
 * same write, and from its last bits, which are random, so that each key gets its share.
 */
export function listPartitionOf(id: bigint, partitions: number): string {
  return (id % BigInt(partitions)).toString();
}
