/** The challenge of a 401: HTTP authentication scheme `Bearer` (RFC 6750, RFC 9110 section 11.6.1). */
export const challenge = 'Bearer realm="petstore"';

/** 30 characters of base62 are 178 random bits. */
export const KEY_RANDOM_CHARACTERS = 30;
/** Six characters of base62 hold any CRC-32, because 62^6 > 2^32. */
export const KEY_CHECKSUM_CHARACTERS = 6;

/** The beginning of every key of a stage. It keeps a staging key from ever being tried in production. */
export function keyPrefix(stage: string): string {
  return `pets_${stage}_`;
}

/**
 * A source for regular expressions that match an API key, in the subset that API Gateway understands.
 *
 * @default stage - any stage
 */
export function keyPattern(stage = '[a-z]+'): string {
  return `${keyPrefix(stage)}[0-9A-Za-z]{${KEY_RANDOM_CHARACTERS + KEY_CHECKSUM_CHARACTERS}}`;
}

/**
 * A source for regular expressions that match the whole `Authorization` header of a request that is worth a lookup:
 * the scheme in any case, then a key of this stage. Anchored, in the subset that API Gateway understands.
 */
export function authorizationPattern(stage: string): string {
  return `^[Bb][Ee][Aa][Rr][Ee][Rr] +(${keyPattern(stage)})$`;
}
