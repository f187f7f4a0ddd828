import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand } from '../../infra/operate/command.ts';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { synthesizeStaging } from '../support/temporary-assembly.ts';
import { type MeasuredFunction, prepareFunctions } from './bench-functions.ts';
import { estimateMinutes, measure, type Subject } from './bench-measure.ts';
import { coldPlot } from './bench-plot.ts';
import { readmeFigures, report } from './bench-report.ts';
import { type Counts, readResults, type Results, resultsFile } from './bench-results.ts';
import {
  type CpuQuota,
  createCpuQuota,
  explainNoQuota,
  MEGABYTES_PER_CORE,
  PERIOD_MILLISECONDS,
} from './cpu-quota.ts';
import { publish } from './publish.ts';
import { findRuntime } from './runtime.ts';
import { startStubDatabase } from './start-stub-database.ts';

// `npm run bench`: measures cold starts and warm requests of the functions, by memory size, beside yardsticks.

const USAGE = `npm run bench -- [--quick | --report [--check]]

  --quick   measure the most important rows a few times, print them and write nothing
  --report  measure nothing: write docs/performance.md and its image from test/bench/results.json
  --check   write nothing, and fail if --report would change a file

Without options it measures everything and writes test/bench/results.json, docs/performance.md and its image.
Fails if a function responds wrongly, however long any response takes.`;

const MEMORY_SIZES = [128, 256, 512, 1_024, MEGABYTES_PER_CORE];
const COUNTS: Counts = { coldStarts: 15, warmInstances: 3, warmRequests: 200 };

const QUICK_NAMES = ['list-pets', 'create-pet', 'bare list', 'bare list, primed', 'hello world'];
const QUICK_MEMORY_SIZE = 256;
const QUICK_COUNTS: Counts = { coldStarts: 5, warmInstances: 1, warmRequests: 200 };

/** Lists that ask more than one key of an index are measured of one memory size. */
const LIST_PARTITIONS = [4, 16];
const PARTITIONS_MEMORY_SIZE = 512;

async function bench(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  if (values.report || values.check) return publishResults(readResults(), values.check);
  const results = await run(values.quick);
  const { 'list partitions': partitions, 'memory size': memorySize, ...parts } = report(results);
  console.log(Object.values(parts).join('\n'));
  if (values.quick) return;
  console.log(`${partitions}\n${memorySize}`);
  writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
  publishResults(results);
}

async function run(quick: boolean): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const apiKey = generateApiKey('staging');
  const database = await startStubDatabase(folder, apiKey);
  const assembly = await synthesizeStaging();
  const functions = await prepareFunctions(assembly, folder, apiKey, database.environment);
  const runtime = findRuntime();
  const quota = createCpuQuota();
  if (quota) process.once('exit', quota.remove);

  const subjects = quick ? quickSubjects(functions, quota) : allSubjects(functions, quota);
  const counts = quick ? QUICK_COUNTS : COUNTS;
  console.error(`About ${estimateMinutes(subjects, counts)} min, with ${runtime.name}.`);
  const rows = await measure(subjects, { counts, quota, runtime, database });
  database.stop();
  const [processor] = cpus();
  return {
    date: new Date().toISOString(),
    machine: {
      processor: processor?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memoryGigabytes: Math.round(totalmem() / 1e9),
      system: `${type()} ${release()}`,
    },
    node: process.version,
    runtime: runtime.name,
    ...(quota
      ? { quota: { kind: quota.kind, periodMilliseconds: PERIOD_MILLISECONDS } }
      : { leftOut: { megabytes: MEMORY_SIZES.slice(0, -1), reason: explainNoQuota() } }),
    counts,
    rows,
  };
}

function allSubjects(functions: MeasuredFunction[], quota: CpuQuota | undefined): Subject[] {
  const listPets = named(functions, 'list-pets');
  return [
    // Those that are compared follow each other: the machine changes within minutes.
    ...(quota ? MEMORY_SIZES : [MEGABYTES_PER_CORE]).flatMap((megabytes) =>
      functions.map((fn) => ({ fn, megabytes })),
    ),
    ...LIST_PARTITIONS.map((partitions) => ({
      fn: {
        ...listPets,
        name: `list-pets over ${partitions} keys`,
        environment: { ...listPets.environment, LIST_PARTITIONS: partitions.toString() },
      },
      megabytes: quota ? PARTITIONS_MEMORY_SIZE : MEGABYTES_PER_CORE,
    })),
  ];
}

function quickSubjects(functions: MeasuredFunction[], quota: CpuQuota | undefined): Subject[] {
  const megabytes = quota ? QUICK_MEMORY_SIZE : MEGABYTES_PER_CORE;
  return QUICK_NAMES.map((name) => ({ fn: named(functions, name), megabytes }));
}

function named(functions: MeasuredFunction[], name: string): MeasuredFunction {
  return functions.find((fn) => fn.name === name)!;
}

function publishResults(results: Results, check = false): void {
  publish(
    {
      script: 'bench',
      documents: { 'docs/performance.md': report(results), 'README.md': readmeFigures(results) },
      plots: { 'docs/cold-requests.svg': coldPlot(results) },
    },
    check,
  );
}

await runCommand(bench);
