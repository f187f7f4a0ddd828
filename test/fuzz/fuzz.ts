import * as fc from 'fast-check';
import { WAIT_LIMIT_MILLISECONDS } from '../support/limits.ts';
import { type Answer, readPet } from './answers.ts';
import { type Ask, checkCreated, type Known } from './checks.ts';

/** Something that answers requests, with what it is to be asked. */
export interface Target<T> {
  name: string;
  input: fc.Arbitrary<T>;
  /** @throws AssertionError when an answer is not as promised. */
  check: (input: T) => Promise<void>;
  /** How often each kind of request was answered with which status. */
  outcomes: Map<string, number>;
  /** What it has printed, but for the requests that it has answered well. */
  printed: () => string;
  close: () => Promise<void>;
}

/**
 * Checks so many generated cases, one after another.
 *
 * @throws Error with the seed and the smallest case found that fails.
 */
export async function fuzz<T>(
  { name, input, check, printed }: Target<T>,
  { seed, cases, onCase = () => {} }: { seed: number; cases: number; onCase?: () => void },
): Promise<void> {
  const property = fc.asyncProperty(input, async (generated) => {
    onCase();
    await check(generated);
  });
  const details = await fc.check(property, {
    seed,
    numRuns: cases,
    // A case that is never answered ends, and tells its seed.
    timeout: WAIT_LIMIT_MILLISECONDS,
    includeErrorInReport: true,
  });
  if (!details.failed) return;
  throw new Error(`${name}, seed ${seed}: ${fc.defaultReportMessage(details)}\n${printed()}`);
}

/** Notes what is asked and how it is answered. */
export function recorder(outcomes: Map<string, number>): (what: string, answer: Answer) => void {
  return (what, { status }) => {
    const outcome = `${what} ${status}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  };
}

/**
 * Some pets to be asked for from the beginning, so that a case does not depend on those before it.
 *
 * @param close ends what answers when it cannot take even these.
 */
export async function addFirstPets(ask: Ask, known: Known, close: () => Promise<unknown>): Promise<void> {
  try {
    for (const [index, status] of [
      'available',
      'pending',
      'sold',
      undefined,
      'sold',
      'available',
    ].entries()) {
      const body = Buffer.from(JSON.stringify({ name: `Pet ${index}`, categoryId: index, status }));
      const answer = await ask({ method: 'POST', path: '/v1/pets', query: [], headers: [], body });
      await checkCreated(readPet(answer.text), ask, known);
    }
  } catch (error) {
    await close();
    throw error;
  }
}
