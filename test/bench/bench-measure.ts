import { statSync } from 'node:fs';
import type { MeasuredFunction, Subject } from './bench-functions.ts';
import type { CpuQuota } from './cpu-quota.ts';
import { startInstance } from './instance.ts';
import { measureInRounds, quantile, type Spread, spreadOf } from './measurements.ts';
import type { StubDatabase } from './stub-database.ts';

interface Setup {
  quota: CpuQuota | undefined;
  database: StubDatabase;
  /** The function that API Gateway invokes before an operation. */
  authorizer: MeasuredFunction;
}

/** Assumed latency of DynamoDB within a region. A waiting function does not use its share of a core. */
const DATABASE_MILLISECONDS = 4;

/** Number of measured requests per warm instance. */
export const WARM_REQUESTS = 200;

/** Figures of one cold start or of one warm instance. */
export interface Figures {
  /** Time from the first event to its response, in milliseconds. */
  first?: number;
  /** Time of init and the first response, in milliseconds. */
  cold?: number;
  /** Sum of `cold` and the authorizer's `cold`. Only operations at their deployed memory size have this figure. */
  chain?: number;
  /** Median latency of an instance's warm requests, in milliseconds. `p99` is the 99th percentile. */
  p50?: number;
  p99?: number;
  /** Mean billed duration of an instance's warm requests. Each duration is rounded up to a full millisecond. */
  billed?: number;
  /** CPU time per warm request, in microseconds. Measured only on Linux. */
  cpu?: number;
  /** Resident memory after the last request, in megabytes of 2^20 bytes. Measured only on Linux. */
  resident?: number;
}

export type Metric = keyof Figures;

/**
 * Spread of each metric of a function or yardstick at one memory size, and the value in each round. Ratios compare only
 * values from the same round.
 */
export type Row = { name: string; megabytes: number; bundleBytes: number } & {
  [metric in Metric]?: Spread & { rounds: number[] };
};

/**
 * Measures each function at each memory size in rounds.
 *
 * @throws UsageError if a function returns a wrong result
 * @throws Error if a function fails
 */
export async function measure(
  measureOne: (subject: Subject, setup: Setup) => Promise<Figures>,
  functions: MeasuredFunction[],
  sizes: number[],
  rounds: number,
  setup: Setup,
): Promise<Row[]> {
  const subjects = [...new Set(sizes)].flatMap((megabytes) => functions.map((fn) => ({ ...fn, megabytes })));
  setup.database.delayMilliseconds = DATABASE_MILLISECONDS;
  const measured = await measureInRounds(measureOne.name, subjects, rounds, (subject) =>
    measureOne(subject, setup),
  );
  return subjects.map(({ name, megabytes, file }, index) => {
    const [first = {}] = measured[index]!;
    const figures = (Object.keys(first) as Metric[]).map((metric) => {
      const values = measured[index]!.map((each) => Number(each[metric]!.toFixed(3)));
      return [metric, { ...spreadOf(values), rounds: values }];
    });
    return { name, megabytes, bundleBytes: statSync(file).size, ...Object.fromEntries(figures) };
  });
}

/** Measures a cold start. Before an operation at its deployed memory size, measures the authorizer's cold start. */
export async function coldStart(subject: Subject, setup: Setup): Promise<Figures> {
  const { quota, authorizer } = setup;
  const isPreceded = subject.megabytes === subject.memoryMegabytes && subject.name !== authorizer.name;
  const megabytes = authorizer.memoryMegabytes!;
  const before = isPreceded ? await coldStart({ ...authorizer, megabytes }, setup) : undefined;
  await using instance = await startInstance(subject, quota);
  const { milliseconds: first } = await instance.invoke();
  const cold = instance.initMilliseconds + first;
  return { first, cold, ...(before && { chain: before.cold! + cold }) };
}

/** Measures warm requests after V8 has compiled the hot code. */
export async function warmInstance(subject: Subject, { quota, database }: Setup): Promise<Figures> {
  await using instance = await startInstance(subject, quota);
  quota?.setMemorySize();
  database.delayMilliseconds = 0;
  // After this number of requests with a full core, V8 has compiled the hot code.
  for (let request = 0; request < 1_500; request += 1) await instance.invoke();
  database.delayMilliseconds = DATABASE_MILLISECONDS;
  quota?.setMemorySize(subject.megabytes);
  const before = instance.usage();
  const times: number[] = [];
  let billed = 0;
  for (let request = 0; request < WARM_REQUESTS; request += 1) {
    const { milliseconds, billedMilliseconds } = await instance.invoke();
    times.push(milliseconds);
    billed += billedMilliseconds / WARM_REQUESTS;
  }
  const after = instance.usage();
  const usage = before &&
    after && { cpu: (after.cpu - before.cpu) / WARM_REQUESTS, resident: after.resident };
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), billed, ...usage };
}
