/** The challenge of a 401: HTTP authentication scheme `Bearer` (RFC 6750, RFC 9110 section 11.6.1). */
export const challenge = 'Bearer realm="petstore"';

/**
 * The whole `Authorization` header of a request that is worth a look: scheme in any case, then a key of this
 * stage. A source for regular expressions, anchored, in the subset that API Gateway understands.
 */
export function authorizationPattern(stage: string): string {
  return `^[Bb][Ee][Aa][Rr][Ee][Rr] +(pets_${stage}_[0-9A-Za-z]{36})$`;
}
