import * as fc from 'fast-check';
import { createWorld, type World, type WorldSettings } from './world.ts';

/** Processes that run together, and statements about the result. */
export interface Scope {
  /** Starts the processes, runs the world, and checks the statements. @throws Violation if a statement does not hold */
  run: (world: World) => Promise<void>;
  settings?: WorldSettings;
}

/** A schedule with which a statement does not hold. */
export interface CounterExample {
  schedule: number[];
  message: string;
  /** One line for each event. */
  lines: string[];
}

interface Outcome {
  /** For each decision, the number of options. */
  options: number[];
  counterExample?: CounterExample;
}

/** Runs a scope with one schedule. */
export async function runSchedule(scope: Scope, schedule: readonly number[]): Promise<Outcome> {
  const world = createWorld(schedule, scope.settings);
  try {
    await scope.run(world);
    return { options: world.report().decisions.map(({ options }) => options) };
  } catch (error) {
    const { decisions, lines } = world.report();
    const choices = decisions.map(({ choice }) => choice);
    const used = choices.slice(0, choices.findLastIndex((choice) => choice > 0) + 1);
    const { name, message, stack } = error as Error;
    const text = name === 'Violation' ? message : `${stack}`;
    return {
      options: decisions.map(({ options }) => options),
      counterExample: { schedule: used, message: text, lines },
    };
  }
}

/**
 * Runs all schedules in which up to `deviations` decisions differ from what usually happens. Bounding the number of
 * deviations finds most defects with few schedules (Emmi, Qadeer and Rakamarić, "Delay-bounded scheduling", 2011).
 *
 * @returns the number of schedules, and the first counter-example
 */
export async function runAllSchedules(
  scope: Scope,
  deviations: number,
  onSchedule: (count: number) => void = () => {},
): Promise<{ count: number; counterExample?: CounterExample }> {
  let count = 0;
  async function explore(schedule: number[], left: number): Promise<CounterExample | undefined> {
    const { options, counterExample } = await runSchedule(scope, schedule);
    count += 1;
    onSchedule(count);
    if (counterExample || left === 0) return counterExample;
    for (let decision = schedule.length; decision < options.length; decision += 1) {
      const usual = Array<number>(decision - schedule.length).fill(0);
      for (let option = 1; option < options[decision]!; option += 1) {
        const found = await explore([...schedule, ...usual, option], left - 1);
        if (found) return found;
      }
    }
    return undefined;
  }
  // Schedules with few deviations come first, so that the first counter-example is short.
  for (let bound = 0; bound <= deviations; bound += 1) {
    const counterExample = await explore([], bound);
    if (counterExample) return { count, counterExample };
  }
  return { count };
}

/** Generates schedules in which most decisions are the usual ones. fast-check shrinks them to fewer and earlier decisions. */
const schedules = fc.array(
  fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(40) }),
  { maxLength: 150, size: 'max' },
);

/**
 * Runs random schedules until the time is over.
 *
 * @param seed number that determines the schedules
 */
export async function runRandomSchedules(
  scope: Scope,
  { seed, milliseconds, runs = Infinity }: { seed: number; milliseconds: number; runs?: number },
  onSchedule: (count: number) => void = () => {},
): Promise<{ count: number; counterExample?: CounterExample }> {
  let count = 0;
  const holds = fc.asyncProperty(schedules, async (schedule) => {
    count += 1;
    onSchedule(count);
    const { counterExample } = await runSchedule(scope, schedule);
    return counterExample === undefined;
  });
  const { failed, counterexample } = await fc.check(holds, {
    seed,
    numRuns: Math.min(runs, 2 ** 31 - 1),
    interruptAfterTimeLimit: milliseconds,
    markInterruptAsFailure: false,
  });
  if (!failed || !counterexample) return { count };
  const { counterExample } = await runSchedule(scope, counterexample[0]);
  return { count, ...(counterExample && { counterExample }) };
}
