import { expect } from '@jest/globals';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import type { Deprecation } from '../../shared/contract/operations.ts';

/** A deprecation for tests that do not depend on the operations that are really deprecated. */
export const deprecation: Deprecation = {
  since: new Date('2026-11-21T00:00:00Z'),
  sunset: new Date('2030-12-05T00:00:00Z'),
  successor: '/v1/pets',
  advice: 'List pets instead.',
};

/**
 * Returns the row named `name`, which a test's table requires for each operation, function or field.
 *
 * @param hint instruction to add the missing row, such as "add a call to `calls` in x.test.ts"
 * @throws Error with the hint if the row is missing
 */
export function rowOf<Row>(rows: Partial<Record<string, Row>>, name: string, hint: string): Row {
  const row = rows[name];
  if (row === undefined) throw new Error(`There is no row for ${name}. Fix: ${hint}.`);
  return row;
}

/** Matches an ApiError with the given code and a message that matches all patterns in `words`. */
export function errorResponse(code: ErrorCode, ...words: string[]): unknown {
  const message = expect.stringMatching(words.map((word) => `(?=.*${word})`).join(''));
  return expect.objectContaining({ name: 'ApiError', code, message });
}
