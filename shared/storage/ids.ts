import { randomInt } from 'node:crypto';
import { firstIdAt, ID_LIMIT, IDS_PER_MILLISECOND } from '../list-partitions.ts';
import { UnavailableError } from './database.ts';

/**
 * Returns a new id of up to 53 bits. The id contains the milliseconds since 2025 and 12 random bits. The id can already be
 * in use, so a conditional write must enforce uniqueness.
 *
 * @throws UnavailableError if the clock is before 2025 or after September 2094. A retry can reach an instance
 *   with a correct clock.
 */
export function newId(now: number = Date.now(), random: number = randomInt(IDS_PER_MILLISECOND)): bigint {
  const id = firstIdAt(now) + BigInt(random);
  if (id >= 1n && id < ID_LIMIT) return id;
  throw new UnavailableError(`The clock is wrong. It shows ${new Date(now).toISOString()}.`);
}
