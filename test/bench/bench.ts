import { cpus, release, totalmem, type } from 'node:os';
import { UsageError } from '../../infra/operate/command.ts';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { folderUntilExit, synthesizeStaging } from '../support/assembly.ts';
import { type MeasuredFunction, prepareFunctions } from './bench-functions.ts';
import { measure, type Subject } from './bench-measure.ts';
import { readmeFigures, report } from './bench-report.ts';
import type { Counts, Results } from './bench-results.ts';
import { runBenchmark } from './benchmark.ts';
import { type CpuQuota, createCpuQuota, MEGABYTES_PER_CORE, PERIOD_MILLISECONDS } from './cpu-quota.ts';
import { runtime } from './instance.ts';
import { startStubDatabase } from './start-stub-database.ts';

// `npm run bench`: measures cold starts and warm requests of the functions, by memory size, beside yardsticks.

const FULL = {
  memorySizes: [128, 256, 512, 1_024, MEGABYTES_PER_CORE],
  counts: { coldStarts: 15, warmInstances: 3, warmRequests: 200 },
};
const QUICK = {
  memorySizes: [256],
  counts: { coldStarts: 5, warmInstances: 1, warmRequests: 200 },
  names: ['list-pets', 'create-pet', 'hello world', 'bare list', 'bare list, primed'],
};
/** Lists that query several partitions are measured at one memory size. */
const PARTITIONS = { memorySize: 512, counts: [4, 16] };

await runBenchmark<Results>({
  script: 'bench',
  file: 'results.json',
  documents: (results) => ({ 'docs/performance.md': report(results), 'README.md': readmeFigures(results) }),
  async measure(quick) {
    const results = await run(quick);
    const { 'list partitions': _, 'memory size': __, ...parts } = report(results);
    console.log(Object.values(parts).join('\n'));
    return quick ? undefined : results;
  },
});

async function run(quick: boolean): Promise<Results> {
  const { memorySizes, counts } = quick ? QUICK : FULL;
  const quota = createCpuQuota();
  if (!quota && !quick) {
    throw new UsageError('Only --quick measures without a CPU quota, which needs Linux, root and a cgroup.');
  }
  const folder = folderUntilExit();
  const apiKey = generateApiKey('staging');
  const database = await startStubDatabase(folder, apiKey);
  const all = await prepareFunctions(await synthesizeStaging(), folder, apiKey, database.environment);
  const functions = all.filter(({ name }) => !quick || QUICK.names.includes(name));
  // Rows that are compared follow each other, because the machine's speed changes within minutes.
  const subjects = (quota ? memorySizes : [MEGABYTES_PER_CORE]).flatMap((megabytes) =>
    functions.map((fn) => ({ ...fn, megabytes })),
  );
  if (!quick) subjects.push(...listsOverPartitions(functions));
  const rows = await measure(subjects, { counts, quota, database });
  database.stop();
  return { circumstances: circumstances(counts, quota), rows };
}

function circumstances({ coldStarts, warmInstances, warmRequests }: Counts, quota?: CpuQuota): string {
  const [processor] = cpus();
  const machine = `${processor?.model.trim()} with ${cpus().length} cores and ${Math.round(totalmem() / 1e9)} GB`;
  const share = quota
    ? `Their share of a core was set by ${quota.kind}, in periods of ${PERIOD_MILLISECONDS} ms`
    : 'Nothing limited their share of a core';
  return `- ${new Date().toISOString()}, ${machine}, ${type()} ${release()}, Node ${process.version}.
- The functions ran under ${runtime.name}.
- ${share}.
- Of each row: cold starts ${coldStarts}, warm instances ${warmInstances}, requests of each of these ${warmRequests}.
`;
}

function listsOverPartitions(functions: MeasuredFunction[]): Subject[] {
  const listPets = functions.find(({ name }) => name === 'list-pets')!;
  return PARTITIONS.counts.map((partitions) => ({
    ...listPets,
    name: `list-pets over ${partitions} keys`,
    environment: { ...listPets.environment, LIST_PARTITIONS: `${partitions}` },
    megabytes: PARTITIONS.memorySize,
  }));
}
