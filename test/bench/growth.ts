import { cpus } from 'node:os';
import { join } from 'node:path';
import { showProgress } from '../../infra/command.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { changedAssembly, folderUntilExit, synthesizeStaging } from '../support/assembly.ts';
import { runBenchmark } from './benchmark.ts';
import { measure } from './growth-measure.ts';
import { seedPets, type Contents } from './growth-pets.ts';
import { type Comparison, latencyTables, ratioOf, type Results } from './growth-report.ts';
import { limitTables } from './partitions.ts';

// `npm run bench:growth` measures latencies and computes throughput limits for docs/scaling.md.

const FULL = { sizes: [1_000, 100_000, 1_000_000], requests: 500 };
const QUICK = { sizes: [1_000, 10_000], requests: 20 };
const PARTITIONS = [1, 4, 16];

await runBenchmark<Results>({
  script: 'bench:growth',
  file: 'growth.json',
  documents: (results) => ({
    'docs/scaling.md': { latencies: latencyTables(results), limits: limitTables() },
    'README.md': { growth: Math.max(...results.bySize.rows.map(({ times }) => ratioOf(times))).toFixed(2) },
  }),
  async measure(quick) {
    const { sizes, requests } = quick ? QUICK : FULL;
    const day = new Date().toISOString().slice(0, 10);
    const assembly = await synthesizeStaging();
    const bySize = sizes.map((pets) => ({ pets, partitions: 1 }));
    const byPartitions = PARTITIONS.map((partitions) => ({ pets: sizes[1]!, partitions }));
    const results = {
      runDetails: `${day} on ${cpus()[0]?.model} x ${cpus().length} with Node ${process.version}`,
      requests,
      bySize: await compare(assembly, bySize, requests),
      byPartitions: await compare(assembly, byPartitions, requests),
    };
    console.log(latencyTables(results));
    return quick ? undefined : results;
  },
});

async function compare(assembly: string, allContents: Contents[], requests: number): Promise<Comparison> {
  const folder = folderUntilExit();
  const services: LocalService[] = [];
  // This listener is prepended so that the services end before their folder is removed.
  process.prependOnceListener('exit', () => services.map((service) => service.process.kill('SIGKILL')));
  const template = readTemplate('PetStore-staging', assembly);
  for (const [index, contents] of allContents.entries()) {
    const data = join(folder, `${index}`);
    const { pets, partitions } = contents;
    const onProgress = showProgress(`${pets} pets, listPartitions ${partitions}`, pets);
    await seedPets(data, template, contents, onProgress);
    const pattern = /(?<="LIST_PARTITIONS": ")\d+(?=")/g;
    const changed = changedAssembly(assembly, join(data, 'assembly'), pattern, `${partitions}`);
    services.push(await startLocalService('--data', data, '--assembly', changed));
  }
  const stores = services.map((service, index) => ({ ...service, contents: allContents[index]! }));
  const rows = await measure(stores, requests, console.error);
  await Promise.all(services.map((service) => service.stop()));
  return { contents: allContents, rows };
}
