import { UsageError } from '../../infra/operate/command.ts';
import { showProgress } from '../../infra/operate/progress.ts';
import type { MeasuredFunction } from './bench-functions.ts';
import { type Counts, type Metric, metrics, type Row } from './bench-results.ts';
import type { CpuQuota } from './cpu-quota.ts';
import { type Instance, startInstance } from './instance.ts';
import type { Invocation } from './runtime-api.ts';
import { quantile, spreadOf } from './spread.ts';
import type { StubDatabase } from './start-stub-database.ts';

/** A function of one memory size. */
export type Subject = MeasuredFunction & { megabytes: number };

interface Circumstances {
  counts: Counts;
  quota: CpuQuota | undefined;
  database: StubDatabase;
}

/** What one instance is measured by. */
type Figures = Partial<Record<Metric, number>>;

/**
 * What DynamoDB is assumed to take for a response within its region. It matters beyond itself: while a function waits,
 * its share of a core is not used up.
 */
const DATABASE_MILLISECONDS = 4;

/** Requests with a whole core, and a database that responds at once, after which V8 has compiled the hot code. */
const REQUESTS_TO_SETTLE = 1_500;

/**
 * Measures each subject in rounds, each in the opposite order of the one before, so that whatever else the machine does
 * affects all alike.
 *
 * @throws UsageError if a result is wrong
 * @throws Error if a function fails
 */
export async function measure(subjects: Subject[], circumstances: Circumstances): Promise<Row[]> {
  const { counts, database } = circumstances;
  await database.respondAfter(DATABASE_MILLISECONDS);
  const measured = subjects.map((subject) => ({ subject, rounds: {} as Record<string, number[]> }));
  const steps = [
    { what: 'cold starts', rounds: counts.coldStarts, measureOne: startCold },
    { what: 'warm instances', rounds: counts.warmInstances, measureOne: keepWarm },
  ];
  for (const { what, rounds, measureOne } of steps) {
    const showDone = showProgress(what, rounds * subjects.length);
    let done = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const one of round % 2 === 0 ? measured : measured.toReversed()) {
        const figures = await measureOne(one.subject, circumstances);
        for (const [metric, figure] of Object.entries(figures)) (one.rounds[metric] ??= []).push(figure);
        showDone((done += 1));
      }
    }
  }
  return measured.map(({ subject, rounds }) => toRow(subject, rounds));
}

async function startCold(subject: Subject, { quota }: Circumstances): Promise<Figures> {
  await using instance = await startInstance(subject, subject.megabytes, quota);
  const { initMilliseconds: init } = instance;
  const { milliseconds: first } = await invoke(instance, subject);
  return { init, first, cold: init + first };
}

async function keepWarm(subject: Subject, { quota, database, counts }: Circumstances): Promise<Figures> {
  const { warmRequests } = counts;
  await using instance = await startInstance(subject, subject.megabytes, quota);
  quota?.setMemorySize();
  await database.respondAfter(0);
  for (let request = 0; request < REQUESTS_TO_SETTLE; request += 1) await invoke(instance, subject);
  await database.respondAfter(DATABASE_MILLISECONDS);
  quota?.setMemorySize(subject.megabytes);
  const before = instance.usage();
  const invocations: Invocation[] = [];
  for (let request = 0; request < warmRequests; request += 1) {
    invocations.push(await invoke(instance, subject));
  }
  const after = instance.usage();
  const times = invocations.map(({ milliseconds }) => milliseconds);
  const billed = invocations.map(({ busyMilliseconds }) => Math.ceil(busyMilliseconds));
  return {
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    billed: billed.reduce((sum, each) => sum + each, 0) / warmRequests,
    ...(before &&
      after && {
        cpu: ((after.cpuMilliseconds - before.cpuMilliseconds) * 1_000) / warmRequests,
        resident: after.residentMegabytes,
      }),
  };
}

async function invoke(instance: Instance, { name, event, expected }: Subject): Promise<Invocation> {
  const invocation = await instance.invoke(event);
  if (expected.every((text) => invocation.result.includes(text))) return invocation;
  throw new UsageError(`${name} responded wrongly, fix it before you measure it: ${invocation.result}`);
}

function toRow({ name, megabytes, bundleBytes }: Subject, rounds: Record<string, number[]>): Row {
  const figures = Object.entries(rounds).map(([metric, values]) => {
    const digits = metrics[metric as Metric];
    const rounded = values.map((value) => Number(value.toFixed(digits)));
    return [metric, { ...spreadOf(values, digits), rounds: rounded }];
  });
  return { name, megabytes, bundleBytes, ...Object.fromEntries(figures) };
}
