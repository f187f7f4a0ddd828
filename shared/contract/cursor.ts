/**
 * The opaque `cursor` of a page: the id of its last pet, from which the next page goes on downwards.
 * base64url (RFC 4648 section 5) of the decimal digits, so that nobody is tempted to count with it.
 */
export function encodeCursor(id: bigint): string {
  return Buffer.from(id.toString()).toString('base64url');
}

/** The id in a cursor, or undefined for any text that `encodeCursor` does not write. */
export function decodeCursor(cursor: string): bigint | undefined {
  const digits = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!/^[1-9]\d{0,15}$/.test(digits)) return undefined;
  const id = BigInt(digits);
  return encodeCursor(id) === cursor ? id : undefined;
}
