import { expect } from '@jest/globals';
import type { ErrorCode } from '../../shared/contract/errors.ts';

/** Matches an ApiError with this code and a message in which all of these patterns are found. */
export function refused(code: ErrorCode, ...words: string[]): unknown {
  const message = expect.stringMatching(words.map((word) => `(?=.*${word})`).join(''));
  return expect.objectContaining({ name: 'ApiError', code, message });
}
