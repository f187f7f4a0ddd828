/** Value of `WWW-Authenticate` in a 401 (RFC 6750, RFC 9110 section 11.6.1). */
export const challenge = 'Bearer realm="petstore"';

/** 30 base62 characters contain 178 random bits. */
export const KEY_RANDOM_CHARACTERS = 30;
/** Six base62 characters can represent any CRC-32, because 62^6 > 2^32. */
export const KEY_CHECKSUM_CHARACTERS = 6;

/** Returns the prefix of all keys of a stage. Production rejects a key with the staging prefix without a lookup. */
export function keyPrefix(stage: string): string {
  return `pets_${stage}_`;
}

/**
 * Returns the source of a regular expression that matches an API key, in the syntax that API Gateway supports.
 *
 * @default stage - any stage
 */
export function keyPattern(stage = '[a-z]+'): string {
  return `${keyPrefix(stage)}[0-9A-Za-z]{${KEY_RANDOM_CHARACTERS + KEY_CHECKSUM_CHARACTERS}}`;
}

/**
 * Returns the source of a regular expression that matches a well-formed `Authorization` header: the case-insensitive
 * scheme `Bearer`, then a key of this stage. It is anchored and uses the syntax that API Gateway supports.
 */
export function authorizationPattern(stage: string): string {
  return `^[Bb][Ee][Aa][Rr][Ee][Rr] +(${keyPattern(stage)})$`;
}
