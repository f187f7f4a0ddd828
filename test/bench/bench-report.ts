import type { FigureName, Figures } from './bench-measure.ts';
import { barChart, type BarChart, chartFiles } from './charts.ts';
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

/** Returns the results as Markdown, for `docs/performance.md`. */
export function report({ runDetails, rows, comparisons }: Results): string {
  return [latencyTable(rows), ratioTable(rows, comparisons), memoryTable(rows), runDetails].join('\n');
}

/** Returns the pictures of `docs/performance.md` by path. */
export function pictures(results: Results): Record<string, string> {
  const files = chartsOf(results).map(({ name, chart }) =>
    chartFiles(name, (theme) => barChart(chart, theme)),
  );
  return Object.assign({}, ...files);
}

interface NamedChart {
  /** Start of the names of the chart's files. */
  name: string;
  chart: BarChart;
}

function chartsOf({ runDetails, rows, comparisons }: Results): NamedChart[] {
  const date = /\d{4}-\d\d-\d\d/.exec(runDetails)![0];
  // A function without a second baseline is compared with itself in another setting, which the charts do not show.
  const compared = [...Map.groupBy(comparisons, ({ name }) => name)].filter(([, all]) => all.length > 1);
  const groupsOf = (figures: FigureName[]) =>
    compared.map(([service, all]) =>
      [service, ...all.map(({ baseline }) => baseline)].flatMap((name) => {
        const row = rows.find((each) => each.name === name)!;
        const values = figures.flatMap((figure) => row.figures[figure] ?? []);
        if (values.length < figures.length) return []; // baselines that are not primed are not measured warm
        return { name: name.replaceAll('`', ''), isService: name === service, values };
      }),
    );
  const captions = {
    subtitle:
      'Medians of the measured values in ms; shorter is better. Blue: functions of this service. Gray: minimal functions.',
    notes: [
      'bare SDK: one database call, written as in the documentation of the AWS SDK. no SDK: the same call without the AWS SDK.',
      'primed: runs its request during init, as this service does. Thin lines: first to third quartile.',
      `Emulated on one machine on ${date}, not measured on AWS.`,
    ],
  };
  return [
    {
      name: 'cold-starts',
      chart: {
        title: 'Cold starts, from the start of the process to the first response',
        ...captions,
        columns: ['256 MB of memory', '512 MB of memory'],
        groups: groupsOf(['cold at 256 MB', 'cold at 512 MB']),
      },
    },
    {
      name: 'warm-requests',
      chart: {
        title: 'Latency of warm requests with 512 MB of memory',
        ...captions,
        subtitle: `${captions.subtitle} Each column has its own scale.`,
        columns: ['Median (p50)', '99th percentile (p99)'],
        hasScalePerColumn: true,
        groups: groupsOf(['p50 at 512 MB', 'p99 at 512 MB']),
      },
    },
  ];
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

/**
 * Returns the table of billed durations and 99th percentiles by memory size. It contains only the service's functions, not
 * the baselines.
 */
function memoryTable(rows: Row[]): string {
  const columns = (['billed', 'p99'] as const).flatMap((metric) =>
    ([256, 512, 1_024] as const).map((megabytes) => ({
      title: `${metric === 'billed' ? 'Billed' : metric}, ${megabytes.toLocaleString('en')} MB`,
      figure: `${metric} at ${megabytes} MB` as const,
    })),
  );
  return markdownTable(
    ['Function', ...columns.map(({ title }) => title)],
    rows
      .filter(({ name }) => /^`[\w-]+`$/.test(name))
      .map(({ name, figures }) => [name, ...columns.map(({ figure }) => formatSpread(figures[figure]))]),
  );
}

/** Returns a Markdown table. All columns except the first contain numbers. */
function markdownTable(head: string[], rows: string[][]): string {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
