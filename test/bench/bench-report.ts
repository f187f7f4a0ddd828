import { markdownList, markdownTable } from '../../infra/documents/markdown.ts';
import type { FigureName, Figures } from './bench-measure.ts';
import { formatSpread } from './measurements.ts';

/** Content of `test/bench/results.json`. */
export interface Results {
  /** Sentences with the date, the machine, the runtime, the CPU quota and the number of measurements. */
  runDetails: string;
  rows: Row[];
  /** Names of rows. The report contains the ratio of the first row's medians to the second row's medians. */
  comparisons: { name: string; baseline: string }[];
}

/** Figures of a function or a baseline. */
export interface Row {
  name: string;
  bundleBytes: number;
  figures: Figures;
}

/** Returns the generated parts of `docs/performance.md` by name. */
export function parts({ runDetails, rows, comparisons }: Results): Record<string, string> {
  return {
    latencies: latencyTable(rows),
    ratios: ratioTable(rows, comparisons),
    'memory size': memoryTable(rows),
    'run details': markdownList([runDetails]),
  };
}

function latencyTable(rows: Row[]): string {
  return markdownTable(
    ['Function', 'Cold, 256 MB', 'Cold, 512 MB', 'Warm, p50', 'Warm, p99', 'CPU per warm request', 'Bundle'],
    rows.map(({ name, bundleBytes, figures }) => [
      name,
      formatSpread(figures['cold at 256 MB']),
      formatSpread(figures['cold at 512 MB']),
      formatSpread(figures['p50 at 512 MB']),
      formatSpread(figures['p99 at 512 MB']),
      figures['cpu at 512 MB']?.median.toFixed(2) ?? '–',
      `${(bundleBytes / 1_000).toFixed(bundleBytes < 10_000 ? 1 : 0)} kB`,
    ]),
  );
}

function ratioTable(rows: Row[], comparisons: Results['comparisons']): string {
  const columns: [title: string, figure: FigureName][] = [
    ['Cold, 256 MB', 'cold at 256 MB'],
    ['Cold, 512 MB', 'cold at 512 MB'],
    ['Warm, p50', 'p50 at 512 MB'],
    ['CPU per warm request', 'cpu at 512 MB'],
  ];
  const medianOf = (name: string, figure: FigureName) =>
    rows.find((row) => row.name === name)?.figures[figure]?.median;
  return markdownTable(
    ['Ratio', ...columns.map(([title]) => title)],
    comparisons.map(({ name, baseline }) => [
      `${name} ÷ ${baseline}`,
      ...columns.map(([, figure]) => {
        const [value, divisor] = [medianOf(name, figure), medianOf(baseline, figure)];
        return value && divisor ? (value / divisor).toFixed(2) : '–';
      }),
    ]),
  );
}

/** Returns the table of billed durations. It contains only the service's functions, not the baselines. */
function memoryTable(rows: Row[]): string {
  const sizes = [256, 512, 1_024];
  return markdownTable(
    ['Function', ...sizes.map((megabytes) => `${megabytes.toLocaleString('en')} MB`)],
    rows
      .filter(({ name }) => /^`[\w-]+`$/.test(name))
      .map(({ name, figures }) => [
        name,
        ...sizes.map((megabytes) => formatSpread(figures[`billed at ${megabytes} MB`])),
      ]),
  );
}
