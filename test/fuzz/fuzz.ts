import * as fc from 'fast-check';
import { WAIT_LIMIT_MILLISECONDS } from '../support/limits.ts';
import type { ApiResponse } from './responses.ts';

/** A service to fuzz, and generators of requests for it. */
export interface Target<T> {
  name: string;
  input: fc.Arbitrary<T>;
  /** @throws AssertionError if a response breaks a promise */
  check: (input: T) => Promise<void>;
  /** Number of responses by kind of request and status. */
  outcomes: Record<string, number>;
  /** Returns the end of the service's output. */
  printed: () => string;
  close: () => Promise<unknown>;
}

export type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** Checks generated cases in sequence. @throws Error with the seed and the smallest failing case */
export async function fuzz<T>(
  { name, input, check, printed }: Target<T>,
  { seed, cases }: { seed: number; cases: number },
): Promise<void> {
  const details = await fc.check(fc.asyncProperty(input, check), {
    seed,
    numRuns: cases,
    // Without a timeout, a case without a response would not report its seed.
    timeout: WAIT_LIMIT_MILLISECONDS,
    includeErrorInReport: true,
  });
  if (details.failed)
    throw new Error(`${name}, seed ${seed}: ${fc.defaultReportMessage(details)}\n${printed()}`);
}

/** Adds a response to the outcomes. */
export function count(outcomes: Record<string, number>, kind: string, { status }: ApiResponse): void {
  const outcome = `${kind} ${status}`;
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}
