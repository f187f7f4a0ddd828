import { jest } from '@jest/globals';

/**
 * Lets no call to the database run into a time-out, nor be tried again after one: on a busy machine that says nothing
 * of the service. Whatever waits by `setTimeout` from now on in this file waits for good.
 */
export function neverTimeOut(): void {
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setInterval',
      'clearInterval',
    ],
  });
}
