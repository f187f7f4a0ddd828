import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const fractional = fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true });
/** Any sequence of UTF-16 units, lone surrogates included. */
const text = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff })))
  .map((units) => String.fromCharCode(...units));

const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(int64, fractional, text, fc.boolean(), fc.constant(null)),
    fc.array(tie('value')),
    fc.dictionary(text, tie('value'), { noNullPrototype: true }),
  ),
}));

/** The point moved so far to the left or right, made up for by the exponent. */
function scientific(integer: bigint, places: number): string {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(integer.toString()) ?? [];
  if (places <= 0) return `${sign}${digits}${digits === '0' ? '' : '0'.repeat(-places)}e${places}`;
  const padded = digits.padStart(places + 1, '0');
  return `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}E+${places}`;
}

describe('reading numbers', () => {
  test('every int64 arrives exactly wherever its point is', () => {
    fc.assert(
      fc.property(int64, fc.integer({ min: -40, max: 40 }), (integer, places) => {
        const spellings = [`${integer}`, `${integer}.0`, scientific(integer, places)];
        expect(spellings.map(parseJson)).toEqual(spellings.map(() => integer));
      }),
    );
  });

  test('minus zero is zero', () => {
    expect(['-0', '-0.0', '0e999999999', '-0e-5'].map(parseJson)).toEqual([0n, 0n, 0n, 0n]);
  });

  test('a number with a fraction stays a number', () => {
    fc.assert(
      fc.property(fractional, (number) => {
        expect(parseJson(JSON.stringify(number))).toBe(number);
      }),
    );
  });

  test('a fraction too small for a double still keeps a number from being an integer', () => {
    fc.assert(
      fc.property(int64, fc.integer({ min: 0, max: 60 }), (integer, zeros) => {
        expect(typeof parseJson(`${integer}.${'0'.repeat(zeros)}1`)).toBe('number');
      }),
    );
  });

  test('an integer beyond int64 never turns into one within', () => {
    const beyond = fc.oneof(fc.bigInt({ min: INT64_MAX + 1n }), fc.bigInt({ max: INT64_MIN - 1n }));
    fc.assert(
      fc.property(beyond, fc.integer({ min: -40, max: 400 }), (integer, places) => {
        const parsed = parseJson(scientific(integer, places));
        expect(typeof parsed === 'bigint' && parsed >= INT64_MIN && parsed <= INT64_MAX).toBe(false);
      }),
    );
  });

  test.each([
    ['9223372036854775808', 2n ** 63n],
    ['1e19', 1e19],
    ['-1e99999999999999999999', -Infinity],
    ['1e-99999999999999999999', 0],
  ])('%s arrives as %s', (source, expected) => {
    expect(parseJson(source)).toBe(expected);
  });

  test.each([
    ['digits', '9'.repeat(50_000), Infinity],
    ['zeros that end in another digit', `-1.${'0'.repeat(50_000)}1`, -1],
    ['zeros that cancel its exponent', `5${'0'.repeat(50_000)}e-50000`, 5n],
    ['zeros after its point', `5.${'0'.repeat(50_000)}`, 5n],
  ])('a number of 50,000 %s is read', (_what, source, expected) => {
    const many = Array.from({ length: 20 }, () => source);
    expect(parseJson(`[${many.join()}]`)).toEqual(many.map(() => expected));
  });
});

test('digits in a text or a name are no number', () => {
  expect(parseJson('{"5":["1e3"]}')).toEqual({ 5: ['1e3'] });
});

test('every value survives writing and reading', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(parseJson(stringifyJson(value))).toEqual(value);
    }),
  );
});
