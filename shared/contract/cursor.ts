/** The opaque `cursor` after a page: the id of its last pet in decimal, as base64url (RFC 4648 section 5). */
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
