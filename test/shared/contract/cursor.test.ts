import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { decodeCursor, encodeCursor } from '../../../shared/contract/cursor.ts';

const id = fc.bigInt({ min: 1n, max: 2n ** 53n - 1n });
const value = fc.oneof(fc.constantFrom('a', 'b', 'a,b'), fc.bigInt({ min: -2n, max: 2n }));
const filter = fc.record({ a: value, b: value }, { requiredKeys: [], noNullPrototype: true });

function base64url(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url');
}

function cursorWith(text: string, filters = '[]'): string {
  const hash = createHash('sha256').update(`["${text.replace('\n', String.raw`\n`)}",${filters}]`);
  return base64url(text) + hash.digest('base64url').slice(0, 6);
}

describe('a cursor', () => {
  test('contains an id that can be read only with the same filters, and needs no encoding in URLs', () => {
    fc.assert(
      fc.property(id, filter, filter, (last, filters, other) => {
        const cursor = encodeCursor('2', last, filters);
        expect(cursor).toMatch(/^[\w-]{1,64}$/);
        const reversed = Object.fromEntries(Object.entries(filters).toReversed());
        expect(decodeCursor('2', cursor, reversed)).toBe(last);
        expect(decodeCursor('2', cursor, other)).toBe(isDeepStrictEqual(filters, other) ? last : undefined);
      }),
    );
  });

  test('of pets keeps its format, so that lists can continue after a deployment', () => {
    expect(encodeCursor('2', 42n, { b: 'x', a: 7n })).toBe(cursorWith('2.42', '[["a",7],["b","x"]]'));
    expect(encodeCursor('2', 42n, {})).toBe('Mi40MgkSq06d');
  });

  test('is rejected if characters are removed, replaced or inserted', () => {
    const parts = fc.record({ place: fc.nat(), removed: fc.nat(20), inserted: fc.string({ maxLength: 4 }) });
    fc.assert(
      fc.property(id, filter, parts, (last, filters, { place, removed, inserted }) => {
        const cursor = encodeCursor('2', last, filters);
        const at = place % cursor.length;
        const text = `${cursor.slice(0, at)}${inserted}${cursor.slice(at + removed)}`;
        fc.pre(text !== cursor);
        expect(decodeCursor('2', text, filters)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['is empty', ''],
    ['contains only an id, like the cursors of earlier versions', base64url('42')],
    ['contains padded Base64', `${base64url('2.42')}=${cursorWith('2.42').slice(-6)}`],
    ['has the prefix of another list', cursorWith('3.42')],
    ['has the id zero', cursorWith('2.0')],
    ['has an id with a leading zero', cursorWith('2.05')],
    ['contains a line break', cursorWith('2.5\n')],
    ['has an id with too many digits', cursorWith('2.12345678901234567')],
  ])('is rejected if it %s', (_condition, text) => {
    expect(decodeCursor('2', text, {})).toBeUndefined();
  });
});
