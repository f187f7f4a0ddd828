import { jest } from '@jest/globals';

const timers = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

/** Puts these into the hands of the test, and leaves time as it is to all else. */
export function fakeTimers(...faked: (typeof timers)[number][]): void {
  jest.useFakeTimers({ doNotFake: timers.filter((timer) => !faked.includes(timer)) });
}
