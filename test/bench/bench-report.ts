import { markdownTable } from '../../infra/documents/markdown.ts';
import type { Metric, Row } from './bench-measure.ts';
import { formatSpread, spreadOf } from './measurements.ts';

/** Content of `test/bench/results.json`. */
export interface Results {
  /** A Markdown list with the date, the machine, the runtime, the CPU quota and the number of measurements. */
  runDetails: string;
  rows: Row[];
}

/** Upper bounds for the ratio of a metric in `row` to the same metric in `baseline`. The report marks higher ratios. */
const bounds: [metric: Metric, megabytes: number, row: string, baseline: string, maximum: number][] = [
  ['cold', 256, 'list-pets', 'bare list, primed', 0.6],
  ['cold', 256, 'create-pet', 'bare create, primed', 0.62],
  ['cold', 512, 'list-pets', 'hello world', 2.6],
  ['cold', 512, 'create-pet', 'hello world', 2.6],
  ['cpu', 512, 'list-pets', 'bare list', 0.72],
  ['cpu', 512, 'create-pet', 'bare create', 0.75],
  ['cpu', 512, 'list-pets, 16 partitions', 'list-pets', 2.5],
];

/** Returns the generated parts of each document, by the document's path and the part's name. */
export function documents({ runDetails, rows }: Results) {
  const names = [...new Set(rows.map(({ name }) => name))];
  // Names with a space belong to baselines and to additional rows of a function.
  const functions = names.filter((name) => !name.includes(' '));
  const sizes = [256, 512, 1_024];
  return {
    'docs/performance.md': {
      'run details': runDetails,
      latencies: figureTable(rows, 'Function', names, [
        ['Cold at 256 MB, ms', 'cold', 256],
        ['Cold at 512 MB, ms', 'cold', 512],
        ['Warm, p50, ms', 'p50', 512],
        ['Warm, p99, ms', 'p99', 512],
      ]),
      bounds: boundsTable(rows),
      'memory size': figureTable(
        rows,
        'Billed, ms',
        functions,
        sizes.map((size) => [`${size.toLocaleString('en')} MB`, 'billed', size]),
      ),
    },
  };
}

type Column = [title: string, metric: Metric, megabytes: number];

function figureTable(rows: Row[], title: string, names: string[], columns: Column[]): string {
  return markdownTable(
    [title, ...columns.map(([head]) => head)],
    names.map((name) => [
      titleOf(name),
      ...columns.map(([, metric, megabytes]) => formatSpread(figureOf(rows, metric, megabytes, name))),
    ]),
  );
}

function boundsTable(rows: Row[]): string {
  return markdownTable(
    ['Metric', 'Row', 'Compared with', 'Ratio', 'Bound', 'Met'],
    bounds.map(([metric, megabytes, row, baseline, maximum]) => {
      const ratios = ratiosOf(rows, metric, megabytes, row, baseline);
      const names = [titleOf(row), titleOf(baseline)];
      const verdict = ratios && ratios.median <= maximum ? 'yes' : '**no**';
      return [`${metric}, ${megabytes} MB`, ...names, formatSpread(ratios), maximum.toFixed(2), verdict];
    }),
    '---',
  );
}

/** Divides each value in a row by the baseline's value from the same round. Returns the spread of the ratios. */
export function ratiosOf(rows: Row[], metric: Metric, megabytes: number, name: string, baseline: string) {
  const divisors = figureOf(rows, metric, megabytes, baseline)?.rounds;
  const values = figureOf(rows, metric, megabytes, name)?.rounds;
  return values && divisors && spreadOf(values.map((value, round) => value / divisors[round]!));
}

/** Returns the spread of a row's metric. Cold starts and warm requests at the same memory size are separate rows. */
export function figureOf(rows: Row[], metric: Metric, megabytes: number, name: string) {
  return rows.find((row) => row.name === name && row.megabytes === megabytes && row[metric])?.[metric];
}

/** Returns a row's name in Markdown, with the function's name formatted as code. */
function titleOf(name: string): string {
  return name.replace(/^[a-z]+(-[a-z]+)+|^authorizer/, '`$&`');
}
