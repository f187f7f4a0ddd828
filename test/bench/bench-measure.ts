import type { MeasuredFunction, Subject } from './bench-functions.ts';
import type { CpuQuota } from './cpu-quota.ts';
import { startInstance } from './instance.ts';
import { measureInRounds, quantile, type Spread, spreadOf } from './measurements.ts';
import type { StubDatabase } from './stub-database.ts';

interface Setup {
  quota: CpuQuota | undefined;
  database: StubDatabase;
}

/** Assumed latency of DynamoDB within a region. A waiting function does not use its share of a core. */
const DATABASE_MILLISECONDS = 4;

/** Number of requests, with a full core and no database delay, after which V8 has compiled the hot code. */
const REQUESTS_TO_SETTLE = 1_500;

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

/** A metric's spread and its value in each round. Ratios compare only values from the same round. */
type Figure = Spread & { rounds: number[] };

/** Measurements of a function or yardstick at one memory size. */
export type Row = { name: string; megabytes: number; bundleBytes: number } & Partial<Record<Metric, Figure>>;

/** Returns each function at each memory size. Operations at their deployed memory size also have the authorizer. */
export function subjectsOf(functions: MeasuredFunction[], sizes: number[]): Subject[] {
  const deployed = functions.find(({ name }) => name === 'authorizer')!;
  const authorizer = { ...deployed, megabytes: deployed.memoryMegabytes! };
  return [...new Set(sizes)].flatMap((megabytes) =>
    functions.map((fn) => {
      const isPreceded = fn.memoryMegabytes === megabytes && fn !== deployed;
      return { ...fn, megabytes, ...(isPreceded && { authorizer }) };
    }),
  );
}

/**
 * Measures the subjects in rounds.
 *
 * @throws UsageError if a function returns a wrong result
 * @throws Error if a function fails
 */
export async function measure(
  measureOne: (subject: Subject, setup: Setup) => Promise<Figures>,
  subjects: Subject[],
  rounds: number,
  setup: Setup,
): Promise<Row[]> {
  setup.database.delayMilliseconds = DATABASE_MILLISECONDS;
  const measured = await measureInRounds(measureOne.name, subjects, rounds, (subject) =>
    measureOne(subject, setup),
  );
  return subjects.map((subject, index) => rowOf(subject, measured[index]!));
}

function rowOf({ name, megabytes, bundleBytes }: Subject, measured: Figures[]): Row {
  const figures = (Object.keys(measured[0] ?? {}) as Metric[]).map((metric) => {
    const rounds = measured.map((each) => Number(each[metric]!.toFixed(3)));
    return [metric, { ...spreadOf(rounds), rounds }];
  });
  return { name, megabytes, bundleBytes, ...Object.fromEntries(figures) };
}

/** Measures a cold start. If the subject has an authorizer, first measures the authorizer's cold start. */
export async function coldStart(subject: Subject, setup: Setup): Promise<Figures> {
  const before = subject.authorizer && (await coldStart(subject.authorizer, setup));
  await using instance = await startInstance(subject, setup.quota);
  const { milliseconds: first } = await instance.invoke();
  const cold = instance.initMilliseconds + first;
  return { first, cold, ...(before && { chain: before.cold! + cold }) };
}

/** Measures warm requests after V8 has compiled the hot code. */
export async function warmInstance(subject: Subject, { quota, database }: Setup): Promise<Figures> {
  await using instance = await startInstance(subject, quota);
  quota?.setMemorySize();
  database.delayMilliseconds = 0;
  for (let request = 0; request < REQUESTS_TO_SETTLE; request += 1) await instance.invoke();
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
