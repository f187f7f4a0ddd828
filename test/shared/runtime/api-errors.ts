import { expect } from '@jest/globals';
import type { ErrorCode } from '../../../shared/contract/errors.ts';

/** Matches an ApiError with the given code and a message that matches the regular expression `pattern`. */
export function errorResponse(code: ErrorCode, pattern = ''): unknown {
  return expect.objectContaining({ name: 'ApiError', code, message: expect.stringMatching(pattern) });
}
