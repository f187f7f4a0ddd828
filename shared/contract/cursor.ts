import { hash } from 'node:crypto';

/** Version of the cursor format. Increase the version when the format changes, so that earlier cursors are rejected. */
const VERSION = 1;
const CHECKSUM_CHARACTERS = 6;

/**
 * Returns the opaque `cursor` of the next page. A cursor contains a version, the filter and the id of the last pet as
 * base64url (RFC 4648 section 5), followed by a checksum. A signature is not needed, because a forged cursor can only
 * change where a page starts.
 *
 * @param status status filter of the list @default - no filter
 */
export function encodeCursor(id: bigint, status = ''): string {
  const text = `${VERSION}.${status}.${id}`;
  const checksum = hash('sha256', text, 'base64url').slice(0, CHECKSUM_CHARACTERS);
  return Buffer.from(text).toString('base64url') + checksum;
}

/** Returns the id in a cursor, or undefined if the cursor is invalid or was created for a different filter. */
export function decodeCursor(cursor: string, status?: string): bigint | undefined {
  const text = Buffer.from(cursor.slice(0, -CHECKSUM_CHARACTERS), 'base64url').toString('latin1');
  const [digits] = /[1-9]\d{0,15}$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const id = BigInt(digits);
  return encodeCursor(id, status) === cursor ? id : undefined;
}
