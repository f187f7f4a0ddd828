import { hash } from 'node:crypto';
import { stringifyJson } from './json.ts';

/** Version of the cursor format. If the format changes, increase the version, so that earlier cursors are rejected. */
const VERSION = 2;
const CHECKSUM_CHARACTERS = 6;

/**
 * Returns the opaque `cursor` of the next page. A cursor contains a version and the id of the last item as base64url
 * (RFC 4648 section 5), followed by a checksum that also covers the filters. A signature is not needed, because a forged
 * cursor can only change where a page starts.
 *
 * @param filters values of the list's filters by query parameter
 */
export function encodeCursor(id: bigint, filters: object): string {
  const text = `${VERSION}.${id}`;
  const sorted = Object.entries(filters).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const checksum = hash('sha256', stringifyJson([text, sorted]), 'base64url');
  return Buffer.from(text).toString('base64url') + checksum.slice(0, CHECKSUM_CHARACTERS);
}

/** Returns the id in a cursor, or undefined if the cursor is invalid or was created for different filters. */
export function decodeCursor(cursor: string, filters: object): bigint | undefined {
  const text = Buffer.from(cursor.slice(0, -CHECKSUM_CHARACTERS), 'base64url').toString('latin1');
  const [digits] = /[1-9]\d{0,15}$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const id = BigInt(digits);
  return encodeCursor(id, filters) === cursor ? id : undefined;
}
