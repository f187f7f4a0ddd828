import * as fc from 'fast-check';
import { WAIT_LIMIT_MILLISECONDS } from '../support/limits.ts';
import type { ApiResponse } from './responses.ts';

/** Something that answers requests, and the requests to send to it. */
export interface Target<T> {
  name: string;
  input: fc.Arbitrary<T>;
  /** @throws AssertionError if a response is not as promised. */
  check: (input: T) => Promise<void>;
  /** How often each kind of request got each status. */
  outcomes: Record<string, number>;
  /** The end of what it printed. */
  printed: () => string;
  close: () => Promise<unknown>;
}

export type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** Checks generated cases one after another. @throws Error with the seed and the smallest case found that fails. */
export async function fuzz<T>(
  { name, input, check, printed }: Target<T>,
  { seed, cases }: { seed: number; cases: number },
): Promise<void> {
  const details = await fc.check(fc.asyncProperty(input, check), {
    seed,
    numRuns: cases,
    // A case that never gets a response fails too, and reports its seed.
    timeout: WAIT_LIMIT_MILLISECONDS,
    includeErrorInReport: true,
  });
  if (details.failed)
    throw new Error(`${name}, seed ${seed}: ${fc.defaultReportMessage(details)}\n${printed()}`);
}

/** Counts a response among the outcomes. */
export function count(outcomes: Record<string, number>, what: string, { status }: ApiResponse): void {
  const outcome = `${what} ${status}`;
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}
