import { expect } from '@jest/globals';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import type { Deprecation } from '../../shared/contract/operation.ts';

/** Deprecation for tests, so that the tests do not depend on which operations are deprecated. */
export const deprecation: Deprecation = {
  since: new Date('2026-11-21T00:00:00Z'),
  sunset: new Date('2030-12-05T00:00:00Z'),
  successor: '/v1/pets',
  advice: 'List the pets instead.',
};

/** Matches an ApiError with the given code and a message that matches all patterns in `words`. */
export function errorResponse(code: ErrorCode, ...words: string[]): unknown {
  const message = expect.stringMatching(words.map((word) => `(?=.*${word})`).join(''));
  return expect.objectContaining({ name: 'ApiError', code, message });
}
