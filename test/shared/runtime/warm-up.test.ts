import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { warmUp } from '../../../shared/runtime/warm-up.ts';

describe('warmUp', () => {
  beforeEach(() => {
    process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] = 'on-demand';
    jest.useFakeTimers();
  });

  afterEach(() => {
    delete process.env['AWS_LAMBDA_INITIALIZATION_TYPE'];
    jest.useRealTimers();
  });

  test('runs the function twice in sequence and waits for both runs', async () => {
    const steps: string[] = [];
    await warmUp(async () => {
      steps.push('begins');
      await Promise.resolve();
      steps.push('ends');
    });
    expect(steps).toEqual(['begins', 'ends', 'begins', 'ends']);
    expect(jest.getTimerCount()).toBe(0);
  });

  test.each([
    ['rejects', () => Promise.reject(new Error('The database is unavailable.'))],
    [
      'throws',
      () => {
        throw new Error('A variable is missing.');
      },
    ],
  ])('returns immediately if the function %s', async (_how, run) => {
    await warmUp(run);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('stops waiting for a slow run after half a second and starts no further run', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = jest.fn(() => promise);
    let hasEnded = false;
    const warm = warmUp(run).finally(() => {
      hasEnded = true;
    });
    await jest.advanceTimersByTimeAsync(499);
    expect(hasEnded).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(hasEnded).toBe(true);
    await warm;
    resolve();
    await jest.advanceTimersByTimeAsync(0);
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('does not run the function outside Lambda and its emulator', async () => {
    delete process.env['AWS_LAMBDA_INITIALIZATION_TYPE'];
    const run = jest.fn(() => Promise.resolve());
    await warmUp(run);
    expect(run).not.toHaveBeenCalled();
  });
});
