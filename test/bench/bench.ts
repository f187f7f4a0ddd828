import { cpus, release, totalmem, type } from 'node:os';
import { UsageError } from '../../infra/command.ts';
import { folderUntilExit, synthesizeStaging } from '../support/assembly.ts';
import { prepareFunctions } from './bench-functions.ts';
import { coldStart, measure, WARM_REQUESTS, warmInstance } from './bench-measure.ts';
import { documents, type Results } from './bench-report.ts';
import { runBenchmark } from './benchmark.ts';
import { type CpuQuota, createCpuQuota, PERIOD_MILLISECONDS } from './cpu-quota.ts';
import { runtimeName } from './instance.ts';
import { startStubDatabase } from './stub-database.ts';

// `npm run bench` measures cold starts and warm requests of the functions and the yardsticks.

const FULL = { coldStarts: 15, warmInstances: 9, warmInstancesOfOtherSizes: 3 };
const QUICK = { coldStarts: 2, warmInstances: 1, warmInstancesOfOtherSizes: 0 };

await runBenchmark<Results>({ script: 'bench', file: 'results.json', documents, measure: measureAll });

async function measureAll(quick: boolean): Promise<Results> {
  const start = performance.now();
  const counts = quick ? QUICK : FULL;
  const quota = createCpuQuota();
  if (!quota && !quick) {
    throw new UsageError('A CPU quota requires Linux, root and a control group. Use --quick to omit it.');
  }
  const folder = folderUntilExit();
  const database = await startStubDatabase(folder);
  const functions = await prepareFunctions(await synthesizeStaging(), folder, database);
  const cold = functions.filter(({ name }) => !name.includes('partitions'));
  const notWarm = quick ? /primed|hello|idempotent|get-/ : /primed|hello/;
  const warm = functions.filter(({ name }) => !notWarm.test(name));
  const sized = functions.filter(({ name, memoryMegabytes }) => memoryMegabytes && !name.includes(','));
  const deployedSizes = functions.flatMap(({ memoryMegabytes }) => memoryMegabytes ?? []);
  const setup = { quota, database, authorizer: functions.find(({ name }) => name === 'authorizer')! };
  const rows = [
    ...(await measure(coldStart, cold, [256, 512, ...deployedSizes], counts.coldStarts, setup)),
    ...(await measure(warmInstance, warm, [512], counts.warmInstances, setup)),
    ...(await measure(warmInstance, sized, [256, 1_024], counts.warmInstancesOfOtherSizes, setup)),
  ];
  await database.close();
  const minutes = (performance.now() - start) / 60_000;
  return { runDetails: describeRun(counts, minutes, quota), rows };
}

function describeRun(counts: typeof FULL, minutes: number, quota?: CpuQuota): string {
  const { coldStarts, warmInstances, warmInstancesOfOtherSizes } = counts;
  const [processor] = cpus();
  const machine = `${processor?.model.trim()} with ${cpus().length} cores and ${Math.round(totalmem() / 1e9)} GB`;
  const share = quota
    ? `${quota.kind}, ${quota.timesThrottled()} throttled periods of ${PERIOD_MILLISECONDS} ms`
    : 'none, so each instance had a full core at every memory size';
  return `- **Finished**: ${new Date().toISOString()}, after ${minutes.toFixed(1)} minutes
- **Machine**: ${machine}, ${type()} ${release()}, Node ${process.version}
- **Runtime**: ${runtimeName}
- **CPU quota**: ${share}
- **Cold starts per row**: ${coldStarts}
- **Warm instances per row**: ${warmInstances} at 512 MB, and ${warmInstancesOfOtherSizes} at each other memory size
- **Requests per warm instance**: ${WARM_REQUESTS}
`;
}
