import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { decodeCursor, encodeCursor } from '../../../shared/contract/cursor.ts';

const id = fc.bigInt({ min: 1n, max: 2n ** 53n - 1n });

function base64url(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url');
}

describe('a cursor', () => {
  test('gives back the id that went in', () => {
    fc.assert(
      fc.property(id, (last) => {
        expect(decodeCursor(encodeCursor(last))).toBe(last);
      }),
    );
  });

  test('goes into an address as it is and does not show the id', () => {
    fc.assert(
      fc.property(id, (last) => {
        expect(encodeCursor(last)).toMatch(/^[\w-]+$/);
        expect(encodeCursor(last)).not.toContain(last.toString());
      }),
    );
  });

  test('has one spelling: every other text is refused', () => {
    const spoiled = fc
      .tuple(id, fc.nat(), fc.nat({ max: 1 }), fc.string({ maxLength: 2 }))
      .map(([last, place, removed, inserted]) => {
        const cursor = encodeCursor(last);
        const at = place % (cursor.length + 1);
        return `${cursor.slice(0, at)}${inserted}${cursor.slice(at + removed)}`;
      });
    fc.assert(
      fc.property(fc.oneof(spoiled, fc.string(), fc.base64String()), (text) => {
        const decoded = decodeCursor(text);
        expect(decoded === undefined || encodeCursor(decoded) === text).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['empty', ''],
    ['with unused bits set', 'NR'],
    ['with white space around', ` ${base64url('5')}`],
    ['of zero', base64url('0')],
    ['of a negative number', base64url('-5')],
    ['of a fraction', base64url('5.0')],
    ['of digits and a line break', base64url('5\n')],
    ['of more digits than an id has', base64url('12345678901234567')],
    ['of bytes that are no digits', base64url('\u00b2')],
  ])('%s is refused', (_what, text) => {
    expect(decodeCursor(text)).toBeUndefined();
  });
});
