import { markdownList } from '../../infra/documents/markdown.ts';
import { UsageError } from '../../infra/command.ts';
import { folderUntilExit, synthesizeStaging } from '../support/assembly.ts';
import { prepareFunctions } from './bench-functions.ts';
import { coldStart, measure, warmInstance } from './bench-measure.ts';
import { documents, type Results } from './bench-report.ts';
import { machine, runBenchmark } from './benchmark.ts';
import { createCpuQuota } from './cpu-quota.ts';
import { runtimeName } from './instance.ts';
import { startStubDatabase } from './stub-database.ts';

// `npm run bench` measures the functions and the baselines.

const FULL = { coldStarts: 15, warmInstances: 9, otherSizes: 3 };
const QUICK = { coldStarts: 2, warmInstances: 1, otherSizes: 0 };

/** Assumed latency of DynamoDB within a region. */
const DATABASE_MILLISECONDS = 4;

await runBenchmark('bench', {
  results: { purpose: 'cold starts and warm requests', measure: measureAll, documents },
});

async function prepare(needsQuota: boolean) {
  const start = performance.now();
  const quota = createCpuQuota();
  if (needsQuota && !quota)
    throw new UsageError(
      'A CPU quota requires Linux, root and a control group. Use --quick to measure without a quota.',
    );
  const folder = folderUntilExit();
  const database = await startStubDatabase(folder);
  const functions = await prepareFunctions(await synthesizeStaging(), folder, database);
  const setup = {
    quota,
    database,
    databaseMilliseconds: DATABASE_MILLISECONDS,
    warmUpMilliseconds: 2_000,
    requests: 200,
  };
  const describeRun = (counts: string): string => {
    const minutes = ((performance.now() - start) / 60_000).toFixed(1);
    const share = quota?.describe() ?? 'none, so each instance had a full core at every memory size';
    const environment = `${machine}. Runtime: ${runtimeName}. CPU quota: ${share}`;
    const date = new Date().toISOString().slice(0, 10);
    return markdownList([`Measured on ${date} in ${minutes} minutes on ${environment}. ${counts}.`]);
  };
  return { functions, setup, describeRun };
}

async function measureAll(quick: boolean): Promise<Results> {
  const { coldStarts, warmInstances, otherSizes } = quick ? QUICK : FULL;
  const { functions, setup, describeRun } = await prepare(!quick);
  const cold = functions.filter(({ name }) => !name.includes('partitions'));
  const notWarm = quick ? /primed|hello|idempotent|get-/ : /primed|hello/;
  const warm = functions.filter(({ name }) => !notWarm.test(name));
  const sized = functions.filter(({ name }) => !name.includes(' '));
  const rows = [
    ...(await measure(coldStart, cold, [256, 512], coldStarts, setup)),
    ...(await measure(warmInstance, warm, [512], warmInstances, setup)),
    ...(await measure(warmInstance, sized, [256, 1_024], otherSizes, setup)),
  ];
  await setup.database.close();
  const instances = `${warmInstances} warm instances (${otherSizes} at other sizes than 512 MB)`;
  return { runDetails: describeRun(`${coldStarts} cold starts and ${instances} per row`), rows };
}
