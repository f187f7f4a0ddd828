import { statSync } from 'node:fs';
import { UsageError } from '../../infra/command.ts';
import { folderUntilExit, synthesizeStaging } from '../support/assembly.ts';
import { comparisons, prepareFunctions } from './bench-functions.ts';
import { coldStart, measure, warmInstance } from './bench-measure.ts';
import { parts, pictures, type Results } from './bench-report.ts';
import { machine, runBenchmark } from './benchmark.ts';
import { createCpuQuota } from './cpu-quota.ts';
import { startStubDatabase } from './stub-database.ts';

// `npm run bench` measures the functions and the baselines for docs/performance.md.

const FULL = { coldStarts: 15, warmInstances: 7, warmSizes: [256, 512, 1_024] };
const QUICK = { coldStarts: 1, warmInstances: 1, warmSizes: [512] };

await runBenchmark({
  script: 'bench',
  purpose: 'cold starts and warm requests',
  results: 'results.json',
  document: 'docs/performance.md',
  measure: measureAll,
  parts,
  pictures,
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
  const functions = await prepareFunctions(await synthesizeStaging(), folder, database);

  const setup = { quota, database };
  const cold = await measure('cold starts', coldStart, functions, () => [256, 512], coldStarts, setup);
  const sizesOf = (fn: (typeof functions)[number]) => fn.warmSizes.filter((each) => warmSizes.includes(each));
  const warm = await measure('warm instances', warmInstance, functions, sizesOf, warmInstances, setup);
  await database.close();

  const date = new Date().toISOString().slice(0, 10);
  const minutes = ((performance.now() - start) / 60_000).toFixed();
  const sentences = [
    `Measured on ${date} on ${machine}, in ${minutes} min`,
    `For each function and memory size: cold starts ${coldStarts}, warm instances ${warmInstances}`,
    `CPU quota: ${quota?.describe() ?? 'none, so each instance had a full core at every memory size'}`,
  ];
  return {
    runDetails: sentences.map((each) => `${each}.`).join(' '),
    rows: functions.map(({ name, file }) => ({
      name,
      bundleBytes: statSync(file).size,
      figures: { ...cold.get(name), ...warm.get(name) },
    })),
    comparisons,
  };
}
