import { describe, expect, test } from '@jest/globals';
import { simulateCreates } from './partition-simulation.ts';

const atRate = (createsPerSecond: number, partitions: number, seed = 1) =>
  simulateCreates({ createsPerSecond, partitions, seconds: 5, seed });

describe('creates at 3,000 a second', () => {
  test('are throttled under one key, and most of them refused', () => {
    const { creates, throttled, refused } = atRate(3_000, 1);
    expect(throttled / creates).toBeGreaterThan(0.8);
    expect(refused / creates).toBeGreaterThan(0.5);
  });

  test.each([1, 2, 3])('are not throttled under four keys (seed %d)', (seed) => {
    const { creates, ...others } = atRate(3_000, 4, seed);
    // A Poisson process has 15,000 in five seconds, with a standard deviation of 122.
    expect(Math.abs(creates - 15_000)).toBeLessThan(700);
    expect(others).toEqual({ throttled: 0, refused: 0 });
  });
});

test.each([1, 2, 4])('%d keys take 1,000 creates a second each, and not one more', (partitions) => {
  const { creates, refused } = atRate(8_000, partitions);
  const stored = creates - refused;
  expect(stored).toBeGreaterThanOrEqual(partitions * 5_000);
  // The last ones are tried again in three more seconds.
  expect(stored).toBeLessThanOrEqual(partitions * 8_000);
});

test('a create that is throttled for a moment is stored by one of its next attempts', () => {
  const { throttled, refused } = atRate(990, 1);
  expect(throttled).toBeGreaterThan(0);
  expect(refused).toBe(0);
});

test('the same seed is the same course, and another seed another', () => {
  expect(atRate(1_500, 1, 7)).toEqual(atRate(1_500, 1, 7));
  expect(atRate(1_500, 1, 7)).not.toEqual(atRate(1_500, 1, 8));
});
