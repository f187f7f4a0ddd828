import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { decodeCursor, encodeCursor } from '../../../shared/contract/cursor.ts';
import { PetStatus } from '../../../shared/contract/schemas.ts';

const id = fc.bigInt({ min: 1n, max: 2n ** 53n - 1n });
const filter = fc.constantFrom(...PetStatus.options, undefined);

function base64url(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url');
}

function cursorWith(text: string): string {
  return base64url(text) + createHash('sha256').update(text, 'latin1').digest('base64url').slice(0, 6);
}

describe('a cursor', () => {
  test('contains an id that can be read only with the same filter', () => {
    fc.assert(
      fc.property(id, filter, filter, (last, status, other) => {
        expect(decodeCursor(encodeCursor(last, status), other)).toBe(status === other ? last : undefined);
      }),
    );
  });

  test('consists of up to 64 characters that need no encoding in URLs', () => {
    fc.assert(
      fc.property(id, filter, (last, status) => {
        expect(encodeCursor(last, status)).toMatch(/^[\w-]{1,64}$/);
      }),
    );
  });

  test('keeps its format within a version so that lists can continue after a deployment', () => {
    expect(encodeCursor(42n, 'sold')).toBe(cursorWith('1.sold.42'));
    expect(encodeCursor(42n)).toBe('MS4uNDI9OS77J');
  });

  test('is rejected if a part is missing or changed', () => {
    const changed = fc
      .tuple(id, filter, fc.nat(), fc.nat({ max: 20 }), fc.string({ maxLength: 4 }))
      .map(([last, status, place, removed, inserted]) => {
        const cursor = encodeCursor(last, status);
        const at = place % cursor.length;
        return { cursor, status, text: `${cursor.slice(0, at)}${inserted}${cursor.slice(at + removed)}` };
      });
    fc.assert(
      fc.property(changed, ({ cursor, status, text }) => {
        fc.pre(text !== cursor);
        expect(decodeCursor(text, status)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['is empty', ''],
    ['contains only an id, like the cursors of earlier versions', base64url('42')],
    ['is padded base64', `${base64url('1..42')}=${cursorWith('1..42').slice(-6)}`],
    ['has an unknown version', cursorWith('2..42')],
    ['has the id zero', cursorWith('1..0')],
    ['has an id with a leading zero', cursorWith('1..05')],
    ['contains a line break', cursorWith('1..5\n')],
    ['has an id with too many digits', cursorWith('1..12345678901234567')],
  ])('is rejected if it %s', (_condition, text) => {
    expect(decodeCursor(text)).toBeUndefined();
  });
});
