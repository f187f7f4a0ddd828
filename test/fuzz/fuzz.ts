import * as fc from 'fast-check';
import { WAIT_LIMIT_MILLISECONDS } from '../support/limits.ts';
import type { ApiResponse } from './responses.ts';

/** Service that the fuzzer tests, and a generator of requests. */
export interface Target<T> {
  name: string;
  input: fc.Arbitrary<T>;
  /** @throws AssertionError if a response differs from the documentation */
  check: (input: T) => Promise<void>;
  /** Number of responses for each kind of request and status. */
  outcomes: Record<string, number>;
  /** Returns the last lines that the service printed. */
  printed: () => string;
  close: () => Promise<unknown>;
}

export type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** @throws Error with the seed and the smallest failing case if a case fails */
export async function fuzz<T>(
  { name, input, check, printed }: Target<T>,
  { seed, cases }: { seed: number; cases: number },
): Promise<void> {
  const details = await fc.check(fc.asyncProperty(input, check), {
    seed,
    numRuns: cases,
    // Without a timeout, a request without a response would prevent the seed from being reported.
    timeout: WAIT_LIMIT_MILLISECONDS,
    includeErrorInReport: true,
  });
  if (details.failed)
    throw new Error(`${name}, seed ${seed}: ${fc.defaultReportMessage(details)}\n${printed()}`);
}

/** Counts a response in `outcomes`. */
export function count(outcomes: Record<string, number>, kind: string, { status }: ApiResponse): void {
  const outcome = `${kind} ${status}`;
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}
