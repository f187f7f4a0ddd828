import { expect } from '@jest/globals';
import type { Outcome } from './run-command.ts';

/** What a command printed that did what it was told without a word of complaint. */
export function done({ code, stdout, stderr }: Outcome): string {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** The one line that a command says when it refuses. */
export function refusal({ code, stdout, stderr }: Outcome): string {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const [line, ...rest] = stderr.split('\n');
  expect(rest).toEqual(['']);
  return line!;
}
