import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { decodeCursor, encodeCursor } from '../../../shared/contract/cursor.ts';

const id = fc.bigInt({ min: 1n, max: 2n ** 53n - 1n });
const filter = fc.constantFrom('available', 'pending', 'sold', undefined);

function base64url(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url');
}

/** A cursor with this text and the checksum that belongs to it. */
function cursorWith(text: string): string {
  return base64url(text) + createHash('sha256').update(text, 'latin1').digest('base64url').slice(0, 6);
}

describe('a cursor', () => {
  test('returns the id for the filter that it was made for, and for no other', () => {
    fc.assert(
      fc.property(id, filter, filter, (last, status, other) => {
        expect(decodeCursor(encodeCursor(last, status), other)).toBe(status === other ? last : undefined);
      }),
    );
  });

  test('goes into an address as it is, within 64 characters', () => {
    fc.assert(
      fc.property(id, filter, (last, status) => {
        expect(encodeCursor(last, status)).toMatch(/^[\w-]{1,64}$/);
      }),
    );
  });

  test('stays the same as long as its version does: walks go on across deployments', () => {
    expect(encodeCursor(42n, 'sold')).toBe(cursorWith('1.sold.42'));
    expect(encodeCursor(42n)).toBe('MS4uNDI9OS77J');
  });

  test('is rejected once a part of it is missing or altered', () => {
    const spoiled = fc
      .tuple(id, filter, fc.nat(), fc.nat({ max: 20 }), fc.string({ maxLength: 4 }))
      .map(([last, status, place, removed, inserted]) => {
        const cursor = encodeCursor(last, status);
        const at = place % cursor.length;
        return { cursor, status, text: `${cursor.slice(0, at)}${inserted}${cursor.slice(at + removed)}` };
      });
    fc.assert(
      fc.property(spoiled, ({ cursor, status, text }) => {
        fc.pre(text !== cursor);
        expect(decodeCursor(text, status)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['nothing', ''],
    ['an id alone, as in earlier versions', base64url('42')],
    ['a cursor in padded base64', `${base64url('1..42')}=${cursorWith('1..42').slice(-6)}`],
    ['another version', cursorWith('2..42')],
    ['an id of zero', cursorWith('1..0')],
    ['a leading zero', cursorWith('1..05')],
    ['a line break', cursorWith('1..5\n')],
    ['more digits than an id has', cursorWith('1..12345678901234567')],
  ])('cannot be %s', (_what, text) => {
    expect(decodeCursor(text)).toBeUndefined();
  });
});
