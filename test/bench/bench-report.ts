import { prices } from '../../infra/operate/cost/prices.ts';
import { standingParts } from '../../infra/operate/cost/report.ts';
import { markdownTable } from '../../infra/operate/markdown-table.ts';
import { boundsOf, verdictOf } from './bench-bounds.ts';
import { type Metric, type Results, type Row, rowOf } from './bench-results.ts';
import { showSpread } from './spread.ts';

/** Functions whose memory size is chosen, by operation as the cost model names them. */
export const functions = {
  listPets: 'list-pets',
  createPet: 'create-pet',
  getPet: 'get-pet',
  authorizer: 'authorizer',
};

/** US dollars of a GB-second in us-east-1, first tier, and what the figure was compared with. */
const memoryPrices = {
  arm64: { dollars: prices.duration.dollars[0]![1], seen: prices.duration.seen },
  x86_64: { dollars: 0.0000166667, seen: '2024, quoted by cloudchipr.com' },
};

/** The generated parts of `docs/performance.md`, by name. */
export function report(results: Results) {
  const bySize = (what: string, metric: Metric) =>
    sizeTable(results, what, namesIn(results), (row) => showSpread(row[metric]));
  return {
    circumstances: results.circumstances,
    'cold requests': [
      bySize('Init and first answer, ms', 'cold'),
      bySize('Init, ms', 'init'),
      bySize('First answer after init, ms', 'first'),
    ].join('\n'),
    'warm requests': [
      bySize('Median of warm requests, ms', 'p50'),
      bySize('99th percentile of warm requests, ms', 'p99'),
    ].join('\n'),
    'processor time and memory': [
      bySize('CPU of a warm request, µs', 'cpu'),
      bySize('Resident memory after warm requests, MB', 'resident'),
      bundleTable(results),
    ].join('\n'),
    'list partitions': partitionsTable(results),
    bounds: boundsTable(results),
    'memory size': costTables(results),
  };
}

/** Figures that the README repeats, by name. */
export function readmeFigures(results: Results): Record<string, string> {
  const cold = (name: string) =>
    [256, 512].map((megabytes) => rowOf(results, name, megabytes)!.cold.median.toFixed()).join(' and ');
  const sizes = results.rows
    .filter(({ name }) => Object.values(functions).includes(name))
    .map(({ bundleBytes }) => Math.round(bundleBytes / 1_000));
  return {
    cold: cold('list-pets'),
    'bare cold': cold('bare list'),
    bundles: `${Math.min(...sizes)} to ${Math.max(...sizes)}`,
  };
}

function bundleTable(results: Results): string {
  const bytesOf = (name: string) => results.rows.find((row) => row.name === name)!.bundleBytes;
  return markdownTable(
    ['Bundle', 'bytes'],
    namesIn(results).map((name) => [nameOf(name), bytesOf(name).toLocaleString('en')]),
  );
}

/** Rows of one memory size only, and the same function as it is deployed. */
function partitionsTable(results: Results): string {
  const special = results.rows.filter(({ name }) => isOverPartitions(name));
  const { megabytes = 0 } = special[0] ?? {};
  const plain = rowOf(results, 'list-pets', megabytes) ?? [];
  return markdownTable(
    [`At ${megabytes} MB`, 'CPU of a warm request, µs', 'median of warm requests, ms', 'resident memory, MB'],
    [plain, special]
      .flat()
      .map(({ name, cpu, p50, resident }) => [nameOf(name), ...[cpu, p50, resident].map(showSpread)]),
  );
}

function boundsTable(results: Results): string {
  return markdownTable(
    ['Bound', 'measured', 'at most', 'met'],
    boundsOf(results).map((bound) => [
      bound.what,
      showSpread(bound.measured),
      bound.atMost.toFixed(2),
      verdictOf(bound),
    ]),
  );
}

function costTables(results: Results): string {
  const { memoryMegabytes } = standingParts('production');
  const operations = new Map(Object.entries(functions).map(([operation, name]) => [name, operation]));
  const isChosen = ({ name, megabytes }: Row) => memoryMegabytes[operations.get(name)!] === megabytes;
  const table = (what: string, cellOf: (row: Row) => string) =>
    sizeTable(results, what, Object.values(functions), (row) =>
      isChosen(row) ? `**${cellOf(row)}**` : cellOf(row),
    );
  return [
    table('Charged for a warm request, ms', ({ billed }) => billed.median.toFixed(1)),
    ...Object.entries(memoryPrices).map(([architecture, { dollars }]) =>
      table(`Dollars of memory for a million, ${architecture}`, (row) =>
        (gigabyteSecondsOfMillion(row) * dollars).toFixed(3),
      ),
    ),
    markdownTable(
      ['Price', 'dollars a GB-second', 'compared with'],
      Object.entries(memoryPrices).map(([name, { dollars, seen }]) => [name, `${dollars}`, seen]),
    ),
  ].join('\n');
}

/** The GB-seconds that Lambda charges for a million warm requests. */
function gigabyteSecondsOfMillion({ megabytes, billed }: Row): number {
  return (megabytes / 1_024) * (billed.median / 1_000) * 1e6;
}

/** A row for each name, a column for each memory size. */
function sizeTable(results: Results, what: string, names: string[], cellOf: (row: Row) => string): string {
  const sizes = [...new Set(results.rows.map(({ megabytes }) => megabytes))];
  return markdownTable(
    [what, ...sizes.map((megabytes) => `${megabytes.toLocaleString('en')} MB`)],
    names.map((name) => [
      nameOf(name),
      ...sizes.map((megabytes) => {
        const row = rowOf(results, name, megabytes);
        return row ? cellOf(row) : '–';
      }),
    ]),
  );
}

function namesIn({ rows }: Results): string[] {
  return [...new Set(rows.map(({ name }) => name))].filter((name) => !isOverPartitions(name));
}

function isOverPartitions(name: string): boolean {
  return name.includes(' over ');
}

/** Functions have the names of their modules. */
function nameOf(name: string): string {
  return name.replace(/^[a-z]+-[a-z]+|^authorizer/, '`$&`');
}
