import { hash } from 'node:crypto';

/** Goes up when the text in cursors changes. The first cursors held an id alone. */
const VERSION = 1;
const CHECKSUM_CHARACTERS = 6;

/**
 * The opaque `cursor` after a page: version, filter, and the id of the page's last pet, as base64url (RFC 4648 section
 * 5), and a checksum that reveals changes. The checksum is not a signature: a forged cursor only begins a page.
 *
 * @param status the filter of the list @default - all pets
 */
export function encodeCursor(id: bigint, status = ''): string {
  const text = `${VERSION}.${status}.${id}`;
  const checksum = hash('sha256', text, 'base64url').slice(0, CHECKSUM_CHARACTERS);
  return Buffer.from(text).toString('base64url') + checksum;
}

/** The id in a cursor, or undefined for any text that `encodeCursor` does not return for this filter. */
export function decodeCursor(cursor: string, status?: string): bigint | undefined {
  const text = Buffer.from(cursor.slice(0, -CHECKSUM_CHARACTERS), 'base64url').toString('latin1');
  const [digits] = /[1-9]\d{0,15}$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const id = BigInt(digits);
  return encodeCursor(id, status) === cursor ? id : undefined;
}
