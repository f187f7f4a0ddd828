import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { projectRoot, runWithOptions, UsageError } from '../../infra/command.ts';
import { folderUntilExit, synthesizeStaging } from '../support/assembly.ts';
import { comparisons, prepareFunctions } from './bench-functions.ts';
import { coldStart, measure, warmInstance } from './bench-measure.ts';
import { pictures, report, type Results } from './bench-report.ts';
import { createCpuQuota } from './cpu-quota.ts';
import { startStubDatabase } from './stub-database.ts';

const FULL = { coldStarts: 15, warmInstances: 7, warmSizes: [256, 512, 1_024] };
const QUICK = { coldStarts: 1, warmInstances: 1, warmSizes: [512] };

const RESULTS = new URL('results.json', import.meta.url);

const USAGE = `npm run bench -- [--quick | --report]

Measures cold starts and warm requests of the functions and of minimal functions, and prints the tables of
docs/performance.md. Stores the results in test/bench/results.json, and draws the charts in docs/pictures. Fails if a
response is wrong, but not if a response is slow.

  --quick   measure only a few times, and write no files
  --report  print the tables and draw the charts of the stored results, without measuring`;

const options = {
  quick: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
} as const;

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
  const functions = await prepareFunctions(await synthesizeStaging(), folder, database);

  const setup = { quota, database };
  const cold = await measure('cold starts', coldStart, functions, () => [256, 512], coldStarts, setup);
  const sizesOf = (fn: (typeof functions)[number]) => fn.warmSizes.filter((each) => warmSizes.includes(each));
  const warm = await measure('warm instances', warmInstance, functions, sizesOf, warmInstances, setup);
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
    rows: functions.map(({ name, file }) => ({
      name,
      bundleBytes: statSync(file).size,
      figures: { ...cold.get(name), ...warm.get(name) },
    })),
    comparisons,
  };
}
