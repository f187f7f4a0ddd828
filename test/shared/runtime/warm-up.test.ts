import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { warmUp } from '../../../shared/runtime/warm-up.ts';

describe('warming up', () => {
  beforeEach(() => {
    process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] = 'on-demand';
    jest.useFakeTimers();
  });

  afterEach(() => {
    delete process.env['AWS_LAMBDA_INITIALIZATION_TYPE'];
    jest.useRealTimers();
  });

  test('is done twice, one after the other, and waited for', async () => {
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
    ['rejects', () => Promise.reject(new Error('The database is away.'))],
    [
      'throws',
      () => {
        throw new Error('A variable is missing.');
      },
    ],
  ])('goes on at once when it %s', async (_how, act) => {
    await warmUp(act);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('goes on after half a second when nothing comes of it', async () => {
    let isOver = false;
    const warm = warmUp(() => new Promise(() => {})).finally(() => {
      isOver = true;
    });
    await jest.advanceTimersByTimeAsync(499);
    expect(isOver).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
    await warm;
  });

  test('begins nothing after that', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const act = jest.fn(() => promise);
    const warm = warmUp(act);
    await jest.advanceTimersByTimeAsync(500);
    await warm;
    resolve();
    await jest.advanceTimersByTimeAsync(0);
    expect(act).toHaveBeenCalledTimes(1);
  });

  test('is left out outside of Lambda', async () => {
    delete process.env['AWS_LAMBDA_INITIALIZATION_TYPE'];
    const act = jest.fn(() => Promise.resolve());
    await warmUp(act);
    expect(act).not.toHaveBeenCalled();
  });
});
