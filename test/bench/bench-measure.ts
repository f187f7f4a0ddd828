import { UsageError } from '../../infra/command.ts';
import { showProgress } from '../../infra/command.ts';
import type { MeasuredFunction } from './bench-functions.ts';
import { type Metric, metrics, type Row } from './bench-results.ts';
import type { CpuQuota } from './cpu-quota.ts';
import { type Instance, startInstance } from './instance.ts';
import type { Invocation } from './runtime-api.ts';
import { quantile, spreadOf } from './spread.ts';
import type { StubDatabase } from './start-stub-database.ts';

/** A function at one memory size. */
export type Subject = MeasuredFunction & {
  megabytes: number;
  /** The function that API Gateway invokes before this function. */
  authorizer?: Subject | undefined;
};

interface Setup {
  quota: CpuQuota | undefined;
  database: StubDatabase;
}

type Measure = (subject: Subject, setup: Setup) => Promise<Figures>;

type Figures = Partial<Record<Metric, number>>;

/** Assumed latency of DynamoDB within a region. A waiting function does not use its share of a core. */
const DATABASE_MILLISECONDS = 4;

/** Number of requests, with a full core and no database delay, after which V8 has compiled the hot code. */
const REQUESTS_TO_SETTLE = 1_500;

/** Number of measured requests per warm instance. */
export const WARM_REQUESTS = 200;

/** Returns each function at each memory size. Operations at their deployed memory size also have the authorizer. */
export function subjectsOf(functions: MeasuredFunction[], sizes: number[]): Subject[] {
  const authorizer = functions.find(({ name }) => name === 'authorizer')!;
  const first = { ...authorizer, megabytes: authorizer.memoryMegabytes! };
  return [...new Set(sizes)].flatMap((megabytes) =>
    functions.map((fn) => ({
      ...fn,
      megabytes,
      ...(fn.memoryMegabytes === megabytes && fn !== authorizer && { authorizer: first }),
    })),
  );
}

/**
 * Measures each subject in rounds of alternating order, so that other load on the machine affects all subjects equally.
 *
 * @throws UsageError if a function returns a wrong result
 * @throws Error if a function fails
 */
export async function measure(
  measureOne: Measure,
  subjects: Subject[],
  rounds: number,
  setup: Setup,
): Promise<Row[]> {
  await setup.database.respondAfter(DATABASE_MILLISECONDS);
  const measured = subjects.map((subject) => ({ subject, figures: {} as Record<string, number[]> }));
  const showDone = showProgress(measureOne.name, rounds * subjects.length);
  let done = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const { subject, figures } of round % 2 === 0 ? measured : measured.toReversed()) {
      for (const [metric, figure] of Object.entries(await measureOne(subject, setup)))
        (figures[metric] ??= []).push(figure);
      showDone((done += 1));
    }
  }
  return measured.map(({ subject, figures }) => toRow(subject, figures));
}

/** Measures a cold start. If the subject has an authorizer, first measures the authorizer's cold start. */
export async function coldStart(subject: Subject, setup: Setup): Promise<Figures> {
  const before = subject.authorizer && (await coldStart(subject.authorizer, setup));
  await using instance = await startInstance(subject, subject.megabytes, setup.quota);
  const { milliseconds: first } = await invoke(instance, subject);
  const cold = instance.initMilliseconds + first;
  return { first, cold, ...(before && { chain: before.cold! + cold }) };
}

/** Measures warm requests after V8 has compiled the hot code. */
export async function warmInstance(subject: Subject, { quota, database }: Setup): Promise<Figures> {
  await using instance = await startInstance(subject, subject.megabytes, quota);
  quota?.setMemorySize();
  await database.respondAfter(0);
  for (let request = 0; request < REQUESTS_TO_SETTLE; request += 1) await invoke(instance, subject);
  await database.respondAfter(DATABASE_MILLISECONDS);
  quota?.setMemorySize(subject.megabytes);
  const before = instance.usage();
  const invocations: Invocation[] = [];
  for (let request = 0; request < WARM_REQUESTS; request += 1) {
    invocations.push(await invoke(instance, subject));
  }
  const after = instance.usage();
  const times = invocations.map(({ milliseconds }) => milliseconds);
  const billed = invocations.map(({ busyMilliseconds }) => Math.ceil(busyMilliseconds));
  return {
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    billed: billed.reduce((sum, each) => sum + each, 0) / WARM_REQUESTS,
    ...(before &&
      after && {
        cpu: ((after.cpuMilliseconds - before.cpuMilliseconds) * 1_000) / WARM_REQUESTS,
        resident: after.residentMegabytes,
      }),
  };
}

async function invoke(instance: Instance, { name, event, expected }: Subject): Promise<Invocation> {
  const invocation = await instance.invoke(event);
  if (expected.every((text) => invocation.result.includes(text))) return invocation;
  throw new UsageError(`${name} returned a wrong response. Fix the function first: ${invocation.result}`);
}

function toRow({ name, megabytes, bundleBytes }: Subject, rounds: Record<string, number[]>): Row {
  const figures = Object.entries(rounds).map(([metric, values]) => {
    const digits = metrics[metric as Metric];
    const rounded = values.map((value) => Number(value.toFixed(digits)));
    return [metric, { ...spreadOf(values, digits), rounds: rounded }];
  });
  return { name, megabytes, bundleBytes, ...Object.fromEntries(figures) };
}
