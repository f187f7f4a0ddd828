import { UsageError } from '../../infra/operate/command.ts';
import { showProgress } from '../../infra/operate/progress.ts';
import type { MeasuredFunction } from './bench-functions.ts';
import { type Counts, roundsOf, type Row } from './bench-results.ts';
import { type CpuQuota, MEGABYTES_PER_CORE } from './cpu-quota.ts';
import { canReadProcesses, type Instance, startInstance } from './instance.ts';
import type { Runtime } from './runtime.ts';
import type { Answer } from './runtime-api.ts';
import { quantile, spreadOf } from './spread.ts';
import type { StubDatabase } from './start-stub-database.ts';

/** A function of one memory size. */
export interface Subject {
  fn: MeasuredFunction;
  megabytes: number;
}

export interface Circumstances {
  counts: Counts;
  quota: CpuQuota | undefined;
  runtime: Runtime;
  database: StubDatabase;
}

/**
 * What DynamoDB takes for an answer, from within its region. Assumed. It matters: while a function waits, its share of the
 * processor is not used up.
 */
const DATABASE_MILLISECONDS = 4;

/** Requests with a whole core, and a database that answers at once, after which V8 has compiled what it will. */
const REQUESTS_TO_SETTLE = 1_500;

/** Each list has an entry for each cold start, or for each warm instance. */
type Samples = Record<Exclude<keyof Row, 'name' | 'megabytes' | 'bundleBytes'>, number[]>;

interface Sampled extends Subject {
  samples: Samples;
}

/**
 * Measures everything in rounds, each in the opposite order of the one before, so that whatever else the machine does
 * meets all alike.
 *
 * @throws UsageError when an answer is wrong; Error when a function fails.
 */
export async function measure(subjects: Subject[], circumstances: Circumstances): Promise<Row[]> {
  const { coldStarts, warmInstances } = circumstances.counts;
  await circumstances.database.answerAfter(DATABASE_MILLISECONDS);
  const sampled = subjects.map((subject) => ({ ...subject, samples: emptySamples() }));
  await inRounds('cold starts', coldStarts, sampled, (subject) => startCold(subject, circumstances));
  await inRounds('warm instances', warmInstances, sampled, (subject) => keepWarm(subject, circumstances));
  return sampled.map(toRow);
}

/** Roughly how long that takes, as seen on two slow cores. */
export function estimateMinutes(subjects: Subject[], { coldStarts, warmInstances, warmRequests }: Counts) {
  const seconds = subjects.map(({ megabytes }) => {
    const slowness = MEGABYTES_PER_CORE / megabytes;
    const cold = 0.35 + 0.03 * slowness;
    const warm = 3 + warmRequests * Math.max(0.007, 0.0015 * slowness);
    return coldStarts * cold + warmInstances * warm;
  });
  return Math.ceil(seconds.reduce((sum, each) => sum + each, 0) / 60);
}

async function inRounds(
  what: string,
  rounds: number,
  subjects: Sampled[],
  act: (subject: Sampled) => Promise<void>,
): Promise<void> {
  const onProgress = showProgress(what, rounds * subjects.length);
  let done = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      await act(subject);
      onProgress((done += 1));
    }
  }
}

async function startCold({ fn, megabytes, samples }: Sampled, { quota, runtime }: Circumstances) {
  await using instance = await startInstance(fn, megabytes, quota, runtime);
  const { milliseconds } = await ask(instance, fn);
  samples.init.push(instance.initMilliseconds);
  samples.first.push(milliseconds);
  samples.cold.push(instance.initMilliseconds + milliseconds);
}

async function keepWarm(
  { fn, megabytes, samples }: Sampled,
  { quota, runtime, database, counts: { warmRequests } }: Circumstances,
) {
  await using instance = await startInstance(fn, megabytes, quota, runtime);
  quota?.setMemorySize();
  await database.answerAfter(0);
  for (let request = 0; request < REQUESTS_TO_SETTLE; request += 1) await ask(instance, fn);
  await database.answerAfter(DATABASE_MILLISECONDS);
  quota?.setMemorySize(megabytes);
  const cpuBefore = canReadProcesses ? instance.cpuMilliseconds() : 0;
  const answers: Answer[] = [];
  for (let request = 0; request < warmRequests; request += 1) answers.push(await ask(instance, fn));
  if (canReadProcesses) {
    samples.cpu.push(((instance.cpuMilliseconds() - cpuBefore) * 1_000) / warmRequests);
    samples.resident.push(instance.residentBytes() / 2 ** 20);
  }
  const times = answers.map(({ milliseconds }) => milliseconds);
  const billed = answers.map(({ busyMilliseconds }) => Math.ceil(busyMilliseconds));
  samples.p50.push(quantile(times, 0.5));
  samples.p99.push(quantile(times, 0.99));
  samples.billed.push(billed.reduce((sum, each) => sum + each, 0) / warmRequests);
}

async function ask(instance: Instance, { name, event, isRight }: MeasuredFunction): Promise<Answer> {
  const answer = await instance.invoke(event);
  if (!isRight(JSON.parse(answer.result))) {
    throw new UsageError(`${name} answered wrongly, mend it before you measure it: ${answer.result}`);
  }
  return answer;
}

function emptySamples(): Samples {
  return { init: [], first: [], cold: [], p50: [], p99: [], billed: [], cpu: [], resident: [] };
}

function toRow({ fn: { name, bundleBytes }, megabytes, samples }: Sampled): Row {
  const { init, first, cold, p50, p99, billed, cpu, resident } = samples;
  return {
    name,
    megabytes,
    bundleBytes,
    init: spreadOf(init, 1),
    first: spreadOf(first, 1),
    cold: roundsOf(cold, 1),
    p50: spreadOf(p50, 2),
    p99: spreadOf(p99, 2),
    billed: spreadOf(billed, 2),
    ...(canReadProcesses && { cpu: roundsOf(cpu, 0), resident: spreadOf(resident, 1) }),
  };
}
