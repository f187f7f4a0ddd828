import { expect } from '@jest/globals';
import type { ErrorCode } from '../../shared/contract/errors.ts';

/**
 * Returns the row of a table that a test has for each operation, function or field.
 *
 * @param hint the file to edit and what to add there
 * @throws Error with that sentence when the row is missing.
 */
export function rowOf<Row>(rows: Partial<Record<string, Row>>, name: string, hint: string): Row {
  const row = rows[name];
  if (row === undefined) throw new Error(`There is no row for ${name}: ${hint}.`);
  return row;
}

/** Matches an ApiError with this code and a message in which all of these patterns are found. */
export function errorResponse(code: ErrorCode, ...words: string[]): unknown {
  const message = expect.stringMatching(words.map((word) => `(?=.*${word})`).join(''));
  return expect.objectContaining({ name: 'ApiError', code, message });
}
