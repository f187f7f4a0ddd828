import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const fractional = fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true });
/** Arbitrary sequences of UTF-16 code units, including lone surrogates. */
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

/** Returns `integer` in scientific notation: 12 becomes `1.2E+1` if `places` is 1, and `120e-1` if `places` is -1. */
function scientific(integer: bigint, places: number): string {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(integer.toString()) ?? [];
  if (places <= 0) return `${sign}${digits}${digits === '0' ? '' : '0'.repeat(-places)}e${places}`;
  const padded = digits.padStart(places + 1, '0');
  return `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}E+${places}`;
}

describe('parseJson', () => {
  test('reads every int64 exactly in any notation', () => {
    fc.assert(
      fc.property(int64, fc.integer({ min: -40, max: 40 }), (integer, places) => {
        const spellings = [`${integer}`, `${integer}.0`, scientific(integer, places)];
        expect(spellings.map(parseJson)).toEqual(spellings.map(() => integer));
      }),
    );
  });

  test('reads minus zero as zero', () => {
    expect(['-0', '-0.0', '0e999999999', '-0e-5'].map(parseJson)).toEqual([0n, 0n, 0n, 0n]);
  });

  test('reads a number with a fraction as a double', () => {
    fc.assert(
      fc.property(fractional, (number) => {
        expect(parseJson(JSON.stringify(number))).toBe(number);
      }),
    );
  });

  test('reads a number with a fraction as a double even if rounding removes the fraction', () => {
    fc.assert(
      fc.property(int64, fc.integer({ min: 0, max: 60 }), (integer, zeros) => {
        expect(typeof parseJson(`${integer}.${'0'.repeat(zeros)}1`)).toBe('number');
      }),
    );
  });

  test('never reads an integer beyond int64 as an int64', () => {
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
  ])('reads %s as %s', (source, expected) => {
    expect(parseJson(source)).toBe(expected);
  });

  test.each([
    ['digits', '9'.repeat(50_000), Infinity],
    ['zeros before the last digit', `-1.${'0'.repeat(50_000)}1`, -1],
    ['zeros that cancel its exponent', `5${'0'.repeat(50_000)}e-50000`, 5n],
    ['zeros after the decimal point', `5.${'0'.repeat(50_000)}`, 5n],
  ])('reads a number with 50,000 %s', (_content, source, expected) => {
    const many = Array.from({ length: 20 }, () => source);
    expect(parseJson(`[${many.join()}]`)).toEqual(many.map(() => expected));
  });

  test('leaves digits in strings and names unchanged', () => {
    expect(parseJson('{"5":["1e3"]}')).toEqual({ 5: ['1e3'] });
  });

  test('reads every value that stringifyJson writes', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(parseJson(stringifyJson(value))).toEqual(value);
      }),
    );
  });
});
