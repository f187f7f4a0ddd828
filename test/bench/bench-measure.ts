import { statSync } from 'node:fs';
import type { MeasuredFunction, Subject } from './bench-functions.ts';
import type { CpuQuota } from './cpu-quota.ts';
import { startInstance } from './instance.ts';
import { measureInRounds, quantile, type Spread, spreadOf } from './measurements.ts';
import type { StubDatabase } from './stub-database.ts';

interface Setup {
  quota: CpuQuota | undefined;
  database: StubDatabase;
  /** Latency of the stub database. It does not affect CPU times, because waiting functions use no CPU time. */
  databaseMilliseconds: number;
  /** Duration of the warm-up requests. The instance handles them with a full core, so that V8 compiles the hot code. */
  warmUpMilliseconds: number;
  /** Number of measured requests per warm instance. */
  requests: number;
}

/** Figures of one cold start or of one warm instance. */
export interface Figures {
  /** Duration of init and the first invocation, in milliseconds. */
  cold?: number;
  /** CPU time of init and the first invocation, in microseconds. */
  coldCpu?: number;
  /** Median latency of an instance's warm requests, in milliseconds. `p99` is the 99th percentile of the latencies. */
  p50?: number;
  p99?: number;
  /** Mean billed duration of an instance's warm requests. Each duration is rounded up to a whole millisecond. */
  billed?: number;
  /** CPU time per warm request, in microseconds. */
  cpu?: number;
}

export type Metric = keyof Figures;

/**
 * Metrics of a function or baseline at one memory size: for each metric, the spread over all rounds and the value in
 * each round. Ratios compare only values from the same round.
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
  const subjects = sizes.flatMap((megabytes) => functions.map((fn) => ({ ...fn, megabytes })));
  setup.database.delayMilliseconds = setup.databaseMilliseconds;
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

export async function coldStart(subject: Subject, { quota }: Setup): Promise<Figures> {
  await using instance = await startInstance(subject, quota);
  const { milliseconds } = await instance.invoke();
  return { cold: instance.initMilliseconds + milliseconds, coldCpu: instance.cpuMicroseconds() };
}

/** Measures warm requests after V8 has compiled the hot code. */
export async function warmInstance(subject: Subject, setup: Setup): Promise<Figures> {
  const { quota, database, databaseMilliseconds, warmUpMilliseconds, requests } = setup;
  await using instance = await startInstance(subject, quota);
  quota?.setMemorySize();
  database.delayMilliseconds = 0;
  const end = performance.now() + warmUpMilliseconds;
  while (performance.now() < end) await instance.invoke();
  database.delayMilliseconds = databaseMilliseconds;
  quota?.setMemorySize(subject.megabytes);
  const before = instance.cpuMicroseconds();
  const times: number[] = [];
  let billed = 0;
  for (let request = 0; request < requests; request += 1) {
    const { milliseconds, billedMilliseconds } = await instance.invoke();
    times.push(milliseconds);
    billed += billedMilliseconds / requests;
  }
  const cpu = (instance.cpuMicroseconds() - before) / requests;
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), billed, cpu };
}
