import type { MeasuredFunction } from './bench-functions.ts';
import type { CpuQuota } from './cpu-quota.ts';
import { startInstance } from './instance.ts';
import { measureInRounds, quantile, type Spread, spreadOf } from './measurements.ts';
import type { StubDatabase } from './stub-database.ts';

/** Assumed latency of DynamoDB within a region. */
const DATABASE_MILLISECONDS = 4;
/** Duration of the warm-up requests. The instance handles them with a full core, so that V8 compiles the hot code. */
const WARM_UP_MILLISECONDS = 2_000;
/** Number of measured requests per warm instance. */
const WARM_REQUESTS = 200;

/** What all measurements share. */
interface Setup {
  /** @default - each instance has a full core at every memory size */
  quota: CpuQuota | undefined;
  database: StubDatabase;
}

/** A function at a memory size. */
interface Subject {
  fn: MeasuredFunction;
  megabytes: number;
}

/**
 * What is measured, in milliseconds:
 *
 * - `cold`: duration of init and the first invocation
 * - `p50`, `p99`: median and 99th percentile of an instance's warm requests
 * - `billed`: mean billed duration of an instance's warm requests. Each duration is rounded up to a whole millisecond.
 * - `cpu`: CPU time per warm request
 */
type Metric = 'cold' | 'p50' | 'p99' | 'billed' | 'cpu';

/** Metric at a memory size, such as `cold at 256 MB`. */
export type FigureName = `${Metric} at ${number} MB`;

/** Spread over all rounds for each measured figure. */
export type Figures = Partial<Record<FigureName, Spread>>;

type Measurement = (subject: Subject, setup: Setup) => Promise<Partial<Record<Metric, number>>>;

/**
 * Measures functions in rounds. Prints `what` with the progress.
 *
 * @param sizesOf function that returns the memory sizes in MB at which to measure a function
 * @returns the figures by the function's name
 * @throws UsageError if a function returns a wrong result
 * @throws Error if a function fails
 */
export async function measure(
  what: string,
  measureOne: Measurement,
  functions: MeasuredFunction[],
  sizesOf: (fn: MeasuredFunction) => number[],
  rounds: number,
  setup: Setup,
): Promise<Map<string, Figures>> {
  const subjects = functions.flatMap((fn) => sizesOf(fn).map((megabytes): Subject => ({ fn, megabytes })));
  setup.database.delayMilliseconds = DATABASE_MILLISECONDS;
  const measured = await measureInRounds(what, subjects, rounds, (subject) => measureOne(subject, setup));

  const figures = new Map<string, Figures>();
  for (const [index, { fn, megabytes }] of subjects.entries()) {
    const values = measured[index]!;
    const spreads = (Object.keys(values[0]!) as Metric[]).map((metric) => [
      `${metric} at ${megabytes} MB`,
      spreadOf(values.map((each) => each[metric]!)),
    ]);
    figures.set(fn.name, { ...figures.get(fn.name), ...Object.fromEntries(spreads) });
  }
  return figures;
}

export const coldStart: Measurement = async ({ fn, megabytes }, { quota }) => {
  await using instance = await startInstance(fn, megabytes, quota);
  const { milliseconds } = await instance.invoke();
  return { cold: instance.initMilliseconds + milliseconds };
};

/** Measures warm requests after V8 has compiled the hot code. */
export const warmInstance: Measurement = async ({ fn, megabytes }, { quota, database }) => {
  await using instance = await startInstance(fn, megabytes, quota);
  quota?.setMemorySize();
  database.delayMilliseconds = 0;
  const end = performance.now() + WARM_UP_MILLISECONDS;
  while (performance.now() < end) await instance.invoke();

  database.delayMilliseconds = DATABASE_MILLISECONDS;
  quota?.setMemorySize(megabytes);
  const cpuBefore = instance.cpuMilliseconds();
  const times: number[] = [];
  let billed = 0;
  for (let request = 0; request < WARM_REQUESTS; request += 1) {
    const { milliseconds, billedMilliseconds } = await instance.invoke();
    times.push(milliseconds);
    billed += billedMilliseconds;
  }
  return {
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    billed: billed / WARM_REQUESTS,
    cpu: (instance.cpuMilliseconds() - cpuBefore) / WARM_REQUESTS,
  };
};
