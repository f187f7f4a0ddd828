import { markdownTable } from '../../infra/documents/markdown.ts';
import { handlerModule } from '../../infra/stack/bundling.ts';
import { stages } from '../support/stages.ts';
import { templateOf } from '../support/template-of.ts';
import type { Metric, Row } from './bench-measure.ts';
import { formatSpread, type Spread, spreadOf } from './measurements.ts';

/** Content of `test/bench/results.json`. */
export interface Results {
  /** A Markdown list with the date, the machine and the runtime. */
  runDetails: string;
  rows: Row[];
}

/** Price for arm64 in us-east-1 at the first tier, from docs/cost.md. */
const DOLLARS_PER_GB_SECOND = 0.0000133334;

/** Upper bounds for the ratio of two rows. A missed bound is reported but does not fail the benchmark. */
const bounds: [metric: Metric, megabytes: number, row: string, yardstick: string, maximum: number][] = [
  ['cold', 256, 'list-pets', 'bare list, primed', 0.7],
  ['cold', 256, 'create-pet', 'bare create, primed', 0.7],
  ['cold', 256, 'create-pet, idempotent', 'bare create, idempotent, primed', 0.7],
  ['cold', 256, 'list-pets', 'bare list', 0.5],
  ['cold', 256, 'create-pet', 'bare create', 0.5],
  ['cold', 256, 'create-pet, idempotent', 'bare create, idempotent', 0.5],
  ['cold', 512, 'list-pets', 'hello world', 3.1],
  ['cold', 512, 'create-pet', 'hello world', 3.1],
  ['cpu', 512, 'list-pets', 'bare list', 0.85],
  ['cpu', 512, 'create-pet', 'bare create', 0.95],
  ['cpu', 512, 'create-pet, idempotent', 'bare create, idempotent', 0.95],
  ['cpu', 512, 'list-pets, 16 partitions', 'list-pets', 2.5],
  ['p50', 512, 'list-pets, 16 partitions', 'list-pets', 2],
];

/** Returns the generated parts of each document by name. */
export function documents(results: Results) {
  const memory = deployedMemory(results);
  const coldMedians = (name: string) =>
    [256, 512].map((size) => figureOf(results, 'cold', name, size)!.median.toFixed()).join(' and ');
  return {
    'docs/performance.md': {
      'run details': results.runDetails,
      clients: clientsTable(results, memory),
      bounds: boundsTable(results),
      'cold requests': markdownTable(
        ['Cold start, ms', '256 MB: total', 'first response', '512 MB: total', 'first response'],
        namesWith(results, 'cold').map((name) => [
          titleOf(name),
          ...[256, 512].flatMap((size) => cellsOf(results, name, size, ['cold', 'first'])),
        ]),
      ),
      'warm requests': markdownTable(
        ['Warm request at 512 MB', 'p50, ms', 'p99, ms', 'CPU, µs', 'Resident, MB'],
        namesWith(results, 'p50').map((name) => [
          titleOf(name),
          ...cellsOf(results, name, 512, ['p50', 'p99', 'cpu', 'resident']),
        ]),
      ),
      'memory size': memoryTable(results, memory),
    },
    'README.md': { cold: coldMedians('list-pets'), 'bare cold': coldMedians('bare list') },
  };
}

/** Returns the memory size of each measured function in production, in MB, by the name of the function's module. */
function deployedMemory({ rows }: Results): Record<string, number> {
  const { Resources } = templateOf({ stage: 'production', settings: stages.production });
  const functions = Object.values<any>(Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
  const sizes = functions.map(({ Properties }) => [handlerModule(Properties.Handler), Properties.MemorySize]);
  // Functions that were added after the stored run have no figures yet.
  return Object.fromEntries(sizes.filter(([name]) => rows.some((row) => row.name === name)));
}

function clientsTable(results: Results, memory: Record<string, number>): string {
  const names = [...Object.keys(memory), 'create-pet, idempotent'];
  return markdownTable(
    ['Latency, ms', 'Memory, MB', 'Function and authorizer cold', 'Function cold', 'Warm, p50', 'Warm, p99'],
    names.map((name) => {
      const megabytes = memory[name.split(',')[0]!]!;
      const figures = cellsOf(results, name, megabytes, ['chain', 'cold', 'p50', 'p99']);
      return [titleOf(name), `${megabytes}`, ...figures];
    }),
  );
}

function boundsTable(results: Results): string {
  return markdownTable(
    ['Metric', 'Row', 'Compared with', 'Ratio', 'Bound', 'Met'],
    bounds.map(([metric, megabytes, row, yardstick, maximum]) => {
      const divisors = figureOf(results, metric, yardstick, megabytes)?.rounds;
      const values = figureOf(results, metric, row, megabytes)?.rounds;
      const spread = values && spreadOf(values.map((value, round) => value / divisors![round]!));
      const names = [titleOf(row), titleOf(yardstick)];
      const verdict = verdictOf(spread, maximum);
      return [`${metric}, ${megabytes} MB`, ...names, formatSpread(spread), maximum.toFixed(2), verdict];
    }),
    '---',
  );
}

/** Returns a table cell that shows whether a bound is met. If the quartiles disagree, the median decides. */
function verdictOf(ratios: Spread | undefined, maximum: number): string {
  if (!ratios) return 'not measured';
  if (ratios.p75 <= maximum) return 'yes';
  if (ratios.p25 > maximum) return '**no**';
  return ratios.median <= maximum ? 'yes (median)' : '**no (median)**';
}

function memoryTable(results: Results, memory: Record<string, number>): string {
  const sizes = [256, 512, 1_024];
  const cellOf = (name: string, size: number): string => {
    const billed = figureOf(results, 'billed', name, size)?.median;
    if (billed === undefined) return '–';
    const dollars = (size / 1_024) * (billed / 1_000) * 1e6 * DOLLARS_PER_GB_SECOND;
    const p99 = figureOf(results, 'p99', name, size)!.median;
    const cell = `${billed.toFixed(1)} / ${p99.toFixed(1)} / ${dollars.toFixed(3)}`;
    return size === memory[name] ? `**${cell}**` : cell;
  };
  return markdownTable(
    ['Billed, ms / p99, ms / US dollars', ...sizes.map((size) => `${size.toLocaleString('en')} MB`)],
    Object.keys(memory).map((name) => [titleOf(name), ...sizes.map((size) => cellOf(name, size))]),
  );
}

function figureOf({ rows }: Results, metric: Metric, name: string, megabytes: number) {
  return rows.find((row) => row.name === name && row.megabytes === megabytes && row[metric])?.[metric];
}

function namesWith({ rows }: Results, metric: Metric): string[] {
  return [...new Set(rows.filter((row) => row[metric]).map(({ name }) => name))];
}

function cellsOf(results: Results, name: string, megabytes: number, metrics: Metric[]): string[] {
  return metrics.map((metric) => formatSpread(figureOf(results, metric, name, megabytes)));
}

/** Returns a row's name in Markdown, with the function's name formatted as code. */
function titleOf(name: string): string {
  return name.replace(/^[a-z]+(-[a-z]+)+|^authorizer/, '`$&`');
}
