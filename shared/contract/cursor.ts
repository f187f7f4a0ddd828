import { hash } from 'node:crypto';
import { stringifyJson } from './json.ts';

/**
 * Length of a cursor's checksum. Six base64url characters contain 36 bits of a SHA-256, which detect truncated cursors
 * and cursors of other lists.
 */
const CHECKSUM_CHARACTERS = 6;

/**
 * Returns the opaque `cursor` of the next page. A cursor contains the prefix of its list and the id of the last item as
 * base64url (RFC 4648 section 5), followed by a checksum that also covers the filters. A signature is not needed,
 * because a forged cursor can only change where a page starts.
 *
 * @param prefix text that only the cursors of this list start with
 * @param id id of the last item on the present page
 * @param filters values of the list's filters by query parameter
 */
export function encodeCursor(prefix: string, id: bigint, filters: object): string {
  const text = `${prefix}.${id}`;
  const sorted = Object.entries(filters).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const checksum = hash('sha256', stringifyJson([text, sorted]), 'base64url');
  return Buffer.from(text).toString('base64url') + checksum.slice(0, CHECKSUM_CHARACTERS);
}

/** Returns the id in a cursor, or undefined if the cursor is invalid or belongs to another list or other filters. */
export function decodeCursor(prefix: string, cursor: string, filters: object): bigint | undefined {
  const text = Buffer.from(cursor.slice(0, -CHECKSUM_CHARACTERS), 'base64url').toString('latin1');
  const [digits] = /[1-9]\d{0,15}$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const id = BigInt(digits);
  return encodeCursor(prefix, id, filters) === cursor ? id : undefined;
}
