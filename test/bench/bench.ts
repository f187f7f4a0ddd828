import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { projectRoot, runWithOptions, UsageError } from '../../infra/command.ts';
import { folderUntilExit } from '../support/assembly.ts';
import { pictures } from './charts.ts';
import { createCpuQuota, type CpuQuota } from './cpu-quota.ts';
import { type MeasuredFunction, prepareFunctions } from './functions.ts';
import { startInstance } from './instance.ts';
import { type FigureName, quantile, report, type Results, spreadOf } from './report.ts';
import { startStubDatabase, type StubDatabase } from './stub-database.ts';

const FULL = { coldStarts: 15, warmInstances: 7, warmSizes: [256, 512, 1_024] };
const QUICK = { coldStarts: 1, warmInstances: 1, warmSizes: [512] };

/** Assumed latency of DynamoDB within a region. */
const DATABASE_MILLISECONDS = 4;
/** Duration of the warm-up requests. The instance handles them with a full core, so that V8 compiles the hot code. */
const WARM_UP_MILLISECONDS = 2_000;
/** Number of measured requests per warm instance. */
const WARM_REQUESTS = 200;

const RESULTS = new URL('results.json', import.meta.url);

const USAGE = `npm run bench -- [--quick | --report]

Measures cold starts and warm requests of the functions and of minimal functions, and prints the figures as tables. Stores
the results in test/bench/results.json, and draws the charts in docs/pictures. Fails if a response is wrong, but not if a
response is slow.

  --quick   measure only a few times, and write no files
  --report  print the tables and draw the charts of the stored results, without measuring`;

const options = {
  quick: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
} as const;

/** A function at a memory size. */
interface Subject {
  fn: MeasuredFunction;
  megabytes: number;
}

await runWithOptions(USAGE, options, async (values) => {
  const results: Results = values.report
    ? JSON.parse(readFileSync(RESULTS, 'utf8'))
    : await measureAll(values.quick);
  console.log(report(results));
  if (values.quick) return;
  if (!values.report) writeFileSync(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  for (const [path, content] of Object.entries(pictures(results)))
    writeFileSync(join(projectRoot, path), content);
});

async function measureAll(isQuick: boolean): Promise<Results> {
  const { coldStarts, warmInstances, warmSizes } = isQuick ? QUICK : FULL;
  const start = performance.now();
  const quota = createCpuQuota();
  if (!quota && !isQuick)
    throw new UsageError(
      'A CPU quota requires Linux, root and a control group. Use --quick to measure without a quota.',
    );
  const folder = folderUntilExit();
  const database = await startStubDatabase(folder);
  database.delayMilliseconds = DATABASE_MILLISECONDS;
  const functions = await prepareFunctions(folder, database);

  const subjects = (sizesOf: (fn: MeasuredFunction) => number[]) =>
    functions.flatMap((fn) => sizesOf(fn).map((megabytes): Subject => ({ fn, megabytes })));
  const cold = subjects(() => [256, 512]);
  const warm = subjects((fn) => fn.warmSizes.filter((size) => warmSizes.includes(size)));
  await measureInRounds('cold starts', coldStarts, cold, (one) => coldStart(one, quota));
  await measureInRounds('warm instances', warmInstances, warm, (one) => warmRequests(one, database, quota));
  await database.close();

  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} CPUs (${cpus()[0]?.model.trim()}) with Node ${process.version}`;
  const minutes = ((performance.now() - start) / 60_000).toFixed();
  const sentences = [
    `Measured on ${date} on ${machine}, in ${minutes} min`,
    `For each function and memory size: cold starts ${coldStarts}, warm instances ${warmInstances}`,
    `CPU quota: ${quota?.describe() ?? 'none, so each instance had a full core at every memory size'}`,
  ];
  return {
    runDetails: sentences.map((each) => `${each}.`).join(' '),
    rows: functions.map(({ name, file, samples }) => ({
      name,
      bundleBytes: statSync(file).size,
      figures: Object.fromEntries(Object.entries(samples).map(([figure, each]) => [figure, spreadOf(each)])),
    })),
  };
}

/**
 * Measures each subject once per round, and adds the values to the samples of its function. Every second round has the
 * opposite order, so that other load on the machine affects all subjects equally.
 */
async function measureInRounds(
  what: string,
  rounds: number,
  subjects: Subject[],
  measure: (subject: Subject) => Promise<Record<string, number>>,
): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    console.error(`${what}: round ${round} of ${rounds}`);
    for (const subject of round % 2 === 0 ? subjects.toReversed() : subjects) {
      const { fn, megabytes } = subject;
      for (const [metric, value] of Object.entries(await measure(subject)))
        (fn.samples[`${metric} at ${megabytes} MB` as FigureName] ??= []).push(value);
    }
  }
}

/** Measures the time from the start of the process to the first response. */
async function coldStart({ fn, megabytes }: Subject, quota: CpuQuota | undefined) {
  await using instance = await startInstance(fn, megabytes, quota);
  const { milliseconds } = await instance.invoke();
  return { cold: instance.initMilliseconds + milliseconds };
}

/**
 * Measures requests of an instance whose hot code V8 has compiled: their median, their 99th percentile, their mean billed
 * duration, for which each duration is rounded up to a whole millisecond, and the CPU time per request.
 */
async function warmRequests({ fn, megabytes }: Subject, database: StubDatabase, quota: CpuQuota | undefined) {
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
  const cpu = (instance.cpuMilliseconds() - cpuBefore) / WARM_REQUESTS;
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), billed: billed / WARM_REQUESTS, cpu };
}
