import { compactName, keyStart } from '../names.ts';

/** Value of `WWW-Authenticate` in a 401 (RFC 6750, RFC 9110 section 11.6.1). */
export const challenge = `Bearer realm="${compactName}"`;

/** Number of random characters in a key. 30 base62 characters contain 178 random bits, so keys cannot be guessed. */
export const KEY_RANDOM_CHARACTERS = 30;
/** Length of a key's checksum. Six base62 characters can represent any CRC-32, because 62^6 > 2^32. */
export const KEY_CHECKSUM_CHARACTERS = 6;

/** Returns the prefix of all keys of a stage. Each stage rejects keys with other prefixes without a database read. */
export function keyPrefix(stage: string): string {
  return `${keyStart}_${stage}_`;
}

/** Source of a regular expression that matches the name of any stage. */
export const ANY_STAGE = '[a-z][a-z0-9]*';

/**
 * Returns the source of a regular expression that matches API keys and uses only syntax that all common dialects share.
 *
 * @param stage name of the stage @default - any stage
 */
export function keyPattern(stage = ANY_STAGE): string {
  return `${keyPrefix(stage)}[0-9A-Za-z]{${KEY_RANDOM_CHARACTERS + KEY_CHECKSUM_CHARACTERS}}`;
}

/**
 * Returns the source of a regular expression that matches an `Authorization` header with the case-insensitive scheme
 * `Bearer` and a key for the given stage. The expression captures the key and uses only syntax that all common dialects share.
 */
export function authorizationPattern(stage: string): string {
  return `^[Bb][Ee][Aa][Rr][Ee][Rr] +(${keyPattern(stage)})$`;
}
