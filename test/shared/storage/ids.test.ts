import { afterEach, describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { newId } from '../../../shared/storage/ids.ts';

const START_OF_2025 = Date.parse('2025-01-01T00:00:00Z');
const END = START_OF_2025 + 2 ** 41 - 1;
const moment = fc.integer({ min: START_OF_2025 + 1, max: END });
const randomBits = fc.integer({ min: 0, max: 4095 });

afterEach(() => {
  jest.restoreAllMocks();
});

describe('newId', () => {
  test('returns a positive id of up to 53 bits from 2025 until 2094, and throws an error at other times', () => {
    fc.assert(
      fc.property(moment, randomBits, (now, random) => {
        const id = newId(now, random);
        expect(id > 0n && id < 2n ** 53n).toBe(true);
      }),
    );
    expect([newId(START_OF_2025, 1), newId(END, 4095)]).toEqual([1n, 2n ** 53n - 1n]);
    expect(() => newId(START_OF_2025, 0)).toThrow('The clock is wrong. It shows 2025-01-01T00:00:00.000Z.');
    expect(() => newId(END + 1, 0)).toThrow('The clock is wrong. It shows 2094-09-07T15:47:35.552Z.');
  });

  test('returns greater ids at later times, regardless of the random bits', () => {
    fc.assert(
      fc.property(moment, moment, randomBits, randomBits, (time, otherTime, random, otherRandom) => {
        fc.pre(time !== otherTime);
        expect(newId(time, random) < newId(otherTime, otherRandom)).toBe(time < otherTime);
      }),
    );
  });

  test('uses the current time and 12 random bits', () => {
    const now = START_OF_2025 + 1000;
    jest.spyOn(Date, 'now').mockReturnValue(now);
    const ids = Array.from({ length: 500 }, () => newId());
    expect(new Set(ids.map((id) => id >> 12n))).toEqual(new Set([1000n]));
    // Each random bit is 0 in some ids and 1 in other ids. The probability of a false failure is less than 2^-494.
    expect(ids.reduce((a, b) => a | b) & 4095n).toBe(4095n);
    expect(ids.reduce((a, b) => a & b) & 4095n).toBe(0n);
  });
});
