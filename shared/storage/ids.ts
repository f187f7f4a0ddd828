import { randomInt } from 'node:crypto';
import { UnavailableError } from './database.ts';

/** Time from which ids count milliseconds. */
const ID_START = '2025-01-01T00:00:00Z';
/** Number of ids that can be generated in a millisecond: 12 random bits. */
const IDS_PER_MILLISECOND = 2 ** 12;

/**
 * Returns a new id: the milliseconds since 2025 in up to 41 bits and 12 random bits. An id has up to 53 bits, so that
 * JSON parsers that use doubles read it exactly (RFC 8259 section 6). The id can already be in use, so a conditional write must
 * enforce uniqueness.
 *
 * @throws UnavailableError if the clock is before 2025 or after September 2094. A retry can reach an instance
 *   with a correct clock.
 */
export function newId(now: number = Date.now(), random: number = randomInt(IDS_PER_MILLISECOND)): bigint {
  const id = BigInt(now - Date.parse(ID_START)) * BigInt(IDS_PER_MILLISECOND) + BigInt(random);
  if (id >= 1n && id <= BigInt(Number.MAX_SAFE_INTEGER)) return id;
  throw new UnavailableError(`The clock is wrong. It shows ${new Date(now).toISOString()}.`);
}
