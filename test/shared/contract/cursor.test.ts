import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { decodeCursor, encodeCursor } from '../../../shared/contract/cursor.ts';

const id = fc.bigInt({ min: 1n, max: 2n ** 53n - 1n });
const value = fc.oneof(fc.constantFrom('a', 'b', 'a,b'), fc.bigInt({ min: -2n, max: 2n }));
const filter = fc.record({ a: value, b: value }, { requiredKeys: [], noNullPrototype: true });

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

  test('keeps its format, so that lists can continue after a deployment', () => {
    expect(encodeCursor('2', 42n, { b: 'x', a: 7n })).toBe('Mi40Mg6Y18MQ');
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

  // The last six characters are the checksum. From the third row on, the checksum is correct, so the cursor must be rejected
  // because of the other characters.
  test.each([
    ['is empty', ''],
    ['contains only an id', 'NDI'],
    ['contains padded Base64 (2.42)', 'Mi40Mg==kSq06d'],
    ['has the prefix of another list (3.42)', 'My40Mgr28-p-'],
    ['has the id zero (2.0)', 'Mi4wdvxXk_'],
    ['has an id with a leading zero (2.05)', 'Mi4wNQHX0lB7'],
    ['contains a line break (2.5 and \\n)', 'Mi41CgXiHSJc'],
    ['has an id with too many digits (2.12345678901234567)', 'Mi4xMjM0NTY3ODkwMTIzNDU2NwNHg94l'],
  ])('is rejected if it %s', (_condition, text) => {
    expect(decodeCursor('2', text, {})).toBeUndefined();
  });
});
