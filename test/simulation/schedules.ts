import * as fc from 'fast-check';
import { createWorld, type Decide, type World, type WorldSettings } from './world.ts';

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

/** Result of several schedules. */
export interface Result {
  /** Number of schedules that ran. */
  count: number;
  counterExample?: CounterExample;
}

interface Outcome {
  /** For each decision, the number of options. */
  options: number[];
  /** One line for each event. */
  lines: string[];
  counterExample?: CounterExample;
}

/**
 * Runs a scope with one schedule.
 *
 * @param schedule for each decision, the number of an option. A number is taken modulo the number of options, and decisions
 *   after the end of the schedule are 0, which is what usually happens.
 */
export async function runSchedule(scope: Scope, schedule: readonly number[]): Promise<Outcome> {
  let decision = 0;
  const decide: Decide = ({ length }) => (schedule[decision++] ?? 0) % length;
  const world = createWorld(decide, scope.settings);
  let failure: Error | undefined;
  await scope.run(world).catch((error) => {
    failure = error;
  });
  const { decisions, lines } = world.report();
  const outcome = { options: decisions.map(({ options }) => options), lines };
  if (!failure) return outcome;
  const choices = decisions.map(({ choice }) => choice);
  const used = choices.slice(0, choices.findLastIndex((choice) => choice > 0) + 1);
  const message = failure.name === 'Violation' ? failure.message : `${failure.stack}`;
  return { ...outcome, counterExample: { schedule: used, message, lines } };
}

/**
 * Runs all schedules in which up to `deviations` decisions differ from what usually happens, until a statement does not
 * hold. Bounding the number of deviations finds most defects with few schedules (Emmi, Qadeer and Rakamarić,
 * "Delay-bounded scheduling", 2011).
 *
 * @returns the number of schedules, and the first counter-example if there is one
 */
export async function runAllSchedules(
  scope: Scope,
  deviations: number,
  onSchedule: (count: number) => void = () => {},
): Promise<Result> {
  let count = 0;
  async function explore(schedule: number[], left: number): Promise<CounterExample | undefined> {
    const { options, counterExample } = await runSchedule(scope, schedule);
    // Schedules with fewer deviations have already been counted, in the call with a lower bound.
    if (left === 0) count += 1;
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

/**
 * Generates schedules in which most decisions are the usual ones. fast-check shrinks a counter-example to fewer
 * decisions and smaller numbers.
 */
const schedules = fc.array(
  fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(40) }),
  { maxLength: 400, size: 'max' },
);

/** Number of schedules after which the time is checked. */
const BATCH = 50;

/**
 * Runs random schedules until the time is over or a statement does not hold.
 *
 * @param seed number that determines the schedules
 * @returns the number of schedules, and a counter-example that fast-check has shrunk, if there is one
 */
export async function runRandomSchedules(
  scope: Scope,
  seed: number,
  milliseconds: number,
  onSchedule: (count: number) => void = () => {},
): Promise<Result> {
  let count = 0;
  const holds = fc.asyncProperty(schedules, async (schedule) => {
    count += 1;
    onSchedule(count);
    const { counterExample } = await runSchedule(scope, schedule);
    return counterExample === undefined;
  });
  // An interrupted check would run in the background until its schedule ends, so the checks are short instead.
  for (const end = performance.now() + milliseconds; performance.now() < end;) {
    const { counterexample } = await fc.check(holds, { seed: (seed + count) % 2 ** 31, numRuns: BATCH });
    if (counterexample) return { count, ...(await runSchedule(scope, counterexample[0])) };
  }
  return { count };
}

/**
 * Runs a scope with a schedule in words. As soon as the text of an option matches the next pattern, the schedule chooses this
 * option. All other decisions are what usually happens.
 *
 * @throws Violation if a statement does not hold
 * @throws Error if a pattern matches no option
 */
export async function expectNoViolation(scope: Scope, ...patterns: RegExp[]): Promise<void> {
  const remaining = [...patterns];
  const world = createWorld((options) => {
    const choice = options.findIndex((text) => remaining[0]?.test(text));
    if (choice < 0) return 0;
    remaining.shift();
    return choice;
  }, scope.settings);
  await scope.run(world);
  if (remaining.length > 0)
    throw new Error(`Not possible: ${remaining[0]!.source}\n${world.report().lines.join('\n')}`);
}
