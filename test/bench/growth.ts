import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand } from '../../infra/operate/command.ts';
import { showProgress } from '../../infra/operate/progress.ts';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { integerOption } from '../../infra/operate/integer-option.ts';
import { stackName } from '../../shared/names.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { synthesizeStaging } from '../support/temporary-assembly.ts';
import {
  type Comparison,
  computedTables,
  type Figures,
  figuresFile,
  measuredTables,
  readFigures,
  refusalPlot,
  simulate,
  steepRows,
  ratioOf,
} from './growth-figures.ts';
import { FEWEST_PETS, seedPets, type Stock } from './growth-pets.ts';
import { kindsInAll, measure } from './growth-requests.ts';
import { publish } from './publish.ts';

// `npm run bench:growth`: what more pets and more list partitions cost, and what they sustain, for docs/scaling.md.

const USAGE = `npm run bench:growth -- [--sizes 1000,100000,1000000] [--requests 500] [--write] | --report [--check]

  --sizes     numbers of pets in the stores that are compared, 1000 to 10000000 each
  --requests  counted requests of each kind, 20 to 100000; as many come before, to warm up
  --write     write the result to test/bench/growth.json and docs/scaling.md
  --report    measure nothing: write docs/scaling.md and its image from test/bench/growth.json
  --check     write nothing, and fail if --report would change a file

Fails if the service responds wrongly, however long any response takes.`;

const PETS_BY_PARTITIONS = 100_000;
const PARTITIONS = [1, 4, 16];

async function growth(): Promise<void> {
  const { values } = parseArgs({
    options: {
      sizes: { type: 'string', default: '1000,100000,1000000' },
      requests: { type: 'string', default: '500' },
      write: { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  if (values.report || values.check) return publishFigures(readFigures(), values.check);
  const sizes = values.sizes
    .split(',')
    .map((size) => integerOption('--sizes', size, FEWEST_PETS, 10_000_000));
  const requests = integerOption('--requests', values.requests, 20, 100_000);

  const circumstances = `${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model} x ${cpus().length}, Node ${process.version}`;
  const assembly = await synthesizeStaging();
  const bySize = await compare(
    assembly,
    sizes.map((pets) => ({ pets, partitions: 1 })),
    requests,
  );
  const byPartitions = await compare(
    assembly,
    PARTITIONS.map((partitions) => ({ pets: PETS_BY_PARTITIONS, partitions })),
    requests,
  );
  const figures = { circumstances, requests, bySize, byPartitions };
  console.log(measuredTables(figures));
  for (const { request } of steepRows(bySize)) console.log(`Not flat: ${request}.`);
  if (!values.write) return;
  writeFileSync(figuresFile, `${JSON.stringify(figures, undefined, 2)}\n`);
  publishFigures(figures);
}

/** Fills a store for each stock, and asks them all. */
async function compare(assembly: string, stocks: Stock[], requests: number): Promise<Comparison> {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-growth-'));
  const services: LocalService[] = [];
  function end(): void {
    for (const service of services) service.process.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
  process.once('exit', end);
  try {
    const template = readTemplate('staging', assembly);
    for (const [index, stock] of stocks.entries()) {
      const data = join(folder, `${index}`);
      const { pets, partitions } = stock;
      await seedPets(data, template, stock, showProgress(`${pets} pets under ${partitions} keys`, pets));
      services.push(
        await startLocalService('--data', data, '--assembly', assemblyFor(assembly, data, partitions)),
      );
    }
    const stores = services.map((service, index) => ({ ...service, stock: stocks[index]! }));
    return { stocks, rows: await measure(stores, requests, showProgress('requests', kindsInAll)) };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    end();
    process.off('exit', end);
  }
}

/** A copy of the assembly whose functions find pets under so many keys. */
function assemblyFor(assembly: string, folder: string, partitions: number): string {
  const copy = join(folder, 'assembly');
  cpSync(assembly, copy, { recursive: true });
  const file = join(copy, `${stackName('staging')}.template.json`);
  const changed = readFileSync(file, 'utf8').replaceAll(
    /(?<="LIST_PARTITIONS": ")\d+(?=")/g,
    partitions.toString(),
  );
  writeFileSync(file, changed);
  return copy;
}

function publishFigures(figures: Figures, check = false): void {
  const simulated = simulate();
  publish(
    {
      script: 'bench:growth',
      documents: {
        'docs/scaling.md': { latencies: measuredTables(figures), limits: computedTables(simulated) },
        'README.md': {
          growth: Math.max(...figures.bySize.rows.map(({ times }) => ratioOf(times))).toFixed(2),
        },
      },
      plots: { 'docs/partitions.svg': refusalPlot(simulated) },
    },
    check,
  );
}

await runCommand(growth);
