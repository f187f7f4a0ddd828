import { join } from 'node:path';
import { markdownTable } from '../../infra/documents/markdown.ts';
import { collections } from '../../shared/contract/operations.ts';
import { ID_START } from '../../shared/list-partitions.ts';
import { assemblyWithEpochs, folderUntilExit, synthesizeStaging } from '../support/assembly.ts';
import { startLocalService } from '../support/local-service.ts';
import { machine, runBenchmark } from './benchmark.ts';
import { chartFiles, lineChart } from './charts.ts';
import { type Contents, fillStore, measure, type Rows, type Store } from './growth-measure.ts';
import { formatSpread, type Spread } from './measurements.ts';
import { itemCount } from './capacity/limits.ts';

// `npm run bench:growth` measures latencies for docs/scaling.md.

const FULL = { sizes: [1_000, 100_000, 1_000_000], requests: 500 };
const QUICK = { sizes: [1_000, 10_000], requests: 20 };

/** Rows in the picture. The other rows have similar latencies, so their lines would hide these. */
const SHOWN = new Set(['list of 20', 'list of 5, page 100', 'get', 'create']);

const [collection] = collections;

/** Content of `test/bench/growth.json`. */
type Results = Awaited<ReturnType<typeof measureAll>>;

await runBenchmark({
  script: 'bench:growth',
  purpose: `latencies with up to a million ${collection.plural}`,
  results: 'growth.json',
  document: 'docs/scaling.md',
  measure: measureAll,
  parts: (results: Results) => ({ latencies: latencyTables(results) }),
  pictures: growthPictures,
});

async function measureAll(isQuick: boolean) {
  const { sizes, requests } = isQuick ? QUICK : FULL;
  const assembly = await synthesizeStaging();
  const bySize = sizes.map((items) => ({ items, partitions: 1 }));
  const byPartitions = [1, 4, 16].map((partitions) => ({ items: sizes[1]!, partitions }));
  return {
    runDetails: `${new Date().toISOString().slice(0, 10)} on ${machine}`,
    requests,
    plural: collection.plural as string,
    bySize: await compare(assembly, bySize, requests),
    byPartitions: await compare(assembly, byPartitions, requests),
  };
}

async function compare(assembly: string, allContents: Contents[], requests: number) {
  const folder = folderUntilExit();
  const stores: Store[] = [];
  // This listener is prepended so that the services end before their folder is removed.
  process.prependOnceListener('exit', () => stores.map((store) => store.process.kill('SIGKILL')));
  for (const contents of allContents) {
    const { items, partitions } = contents;
    const data = join(folder, `${items}-${partitions}`);
    await fillStore(data, assembly, contents);
    const epochs = [{ since: ID_START, count: partitions }];
    const changed = assemblyWithEpochs(assembly, join(data, 'assembly'), epochs);
    stores.push({ ...(await startLocalService('--data', data, '--assembly', changed)), contents });
  }
  const rows = await measure(stores, requests);
  await Promise.all(stores.map((store) => store.stop()));
  return { contents: allContents, rows };
}

/** Returns the latency tables for `docs/scaling.md`. */
function latencyTables({ runDetails, requests, plural, bySize, byPartitions }: Results): string {
  const sizes = bySize.contents.map(({ items }) => itemCount(items, plural));
  const settings = byPartitions.contents.map(({ partitions }) => `\`listPartitions\` ${partitions}`);
  const title = `Median, ms (${itemCount(byPartitions.contents[0]!.items, plural)})`;
  return [
    `Measured on ${runDetails}. Each median is based on ${requests} requests.\n`,
    markdownTable(['Median, ms (quartiles)', ...sizes, 'slowest ÷ fastest'], bySize.rows.map(cellsOf)),
    markdownTable([title, ...settings, 'slowest ÷ fastest'], byPartitions.rows.map(cellsOf)),
  ].join('\n');
}

function growthPictures({ runDetails, requests, plural, bySize }: Results): Record<string, string> {
  const date = runDetails.split(' ')[0]!;
  const sizes = bySize.contents.map(({ items }) => items.toLocaleString('en'));
  const chart = {
    title: `Latency with ${sizes[0]} to ${sizes.at(-1)} ${plural}`,
    subtitle: `Median of ${requests} requests in ms; lower is better.`,
    notes: [
      'Compare only the points of one line. Each line was measured at another time, when the load on the machine could differ.',
      `Measured with the local service and its database on one machine on ${date}, not on AWS.`,
    ],
    positions: bySize.contents.map(({ items }) => ({ value: items, label: itemCount(items, plural) })),
    lines: bySize.rows
      .filter(({ request }) => SHOWN.has(request))
      .map(({ request, times }) => ({ name: request, values: times })),
  };
  return chartFiles('growth', (theme) => lineChart(chart, theme));
}

function cellsOf({ request, times }: Rows[number]): string[] {
  return [request, ...times.map(formatSpread), ratioOf(times).toFixed(2)];
}

/** Returns the ratio of the slowest store's median latency to the fastest store's median latency. */
function ratioOf(times: Spread[]): number {
  const medians = times.map(({ median }) => median);
  return Math.max(...medians) / Math.min(...medians);
}
