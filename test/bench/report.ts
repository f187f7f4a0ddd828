/** Content of `test/bench/results.json`. */
export interface Results {
  /** Sentences with the date, the machine, the runtime, the CPU quota and the number of measurements. */
  runDetails: string;
  rows: Row[];
}

/** Figures of a function or a baseline. */
export interface Row {
  /** Name in the tables, in Markdown. */
  name: string;
  bundleBytes: number;
  figures: Partial<Record<FigureName, Spread>>;
}

/** A metric at a memory size, such as `cold at 256 MB`. All but `bundleBytes` are in milliseconds. */
export type FigureName = `${'cold' | 'p50' | 'p99' | 'billed' | 'cpu'} at ${number} MB`;

/** Median and quartiles of all cold starts or instances. */
export type Spread = ReturnType<typeof spreadOf>;

/** The functions of this service, each with the minimal functions to compare it with. */
export const comparisons = {
  '`list-pets`': ['no SDK, list, primed', 'bare SDK, list, primed', 'bare SDK, list'],
  '`create-pet`': ['bare SDK, create, primed', 'bare SDK, create'],
};

export function spreadOf(values: number[]) {
  const at = (share: number) => Number(quantile(values, share).toFixed(3));
  return { median: at(0.5), p25: at(0.25), p75: at(0.75) };
}

/** Returns a quantile with linear interpolation. @param share 0 to 1, such as 0.5 for the median */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  return below + (above - below) * (position % 1);
}

/** Formats a positive figure with up to two decimals, such as `183`, `27.1` and `6.60`. */
export function formatFigure(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

/** Returns tables in Markdown: all figures, the comparisons, and the figures by memory size. */
export function report({ runDetails, rows }: Results): string {
  const all: Column[] = [
    { title: 'Cold, 256 MB', figure: 'cold at 256 MB' },
    { title: 'Cold, 512 MB', figure: 'cold at 512 MB' },
    { title: 'Warm, p50', figure: 'p50 at 512 MB' },
    { title: 'Warm, p99', figure: 'p99 at 512 MB' },
    { title: 'CPU per warm request', figure: 'cpu at 512 MB' },
  ];
  const compared = all.filter(({ figure }) => figure !== 'p99 at 512 MB');
  const bySize = (['billed', 'p99'] as const).flatMap((metric) =>
    [256, 512, 1_024].map((megabytes): Column => ({
      title: `${metric === 'billed' ? 'Billed' : metric}, ${megabytes.toLocaleString('en')} MB`,
      figure: `${metric} at ${megabytes} MB`,
    })),
  );
  const medianOf = (name: string, figure: FigureName) =>
    rows.find((row) => row.name === name)?.figures[figure]?.median;
  const tables = [
    markdownTable(
      ['Function', ...all.map(({ title }) => title), 'Bundle'],
      rows.map(({ name, bundleBytes, figures }) => [
        name,
        ...all.map(({ figure }) =>
          figure.startsWith('cpu')
            ? (figures[figure]?.median.toFixed(2) ?? '–')
            : formatSpread(figures[figure]),
        ),
        `${(bundleBytes / 1_000).toFixed(bundleBytes < 10_000 ? 1 : 0)} kB`,
      ]),
    ),
    markdownTable(
      ['Ratio', ...compared.map(({ title }) => title)],
      Object.entries(comparisons).flatMap(([name, baselines]) =>
        baselines.map((baseline) => [
          `${name} ÷ ${baseline}`,
          ...compared.map(({ figure }) => {
            const [value, divisor] = [medianOf(name, figure), medianOf(baseline, figure)];
            return value && divisor ? (value / divisor).toFixed(2) : '–';
          }),
        ]),
      ),
    ),
    markdownTable(
      ['Function', ...bySize.map(({ title }) => title)],
      // These are the service's own functions, each with its usual request.
      rows
        .filter(({ name }) => /^`[\w-]+`$/.test(name))
        .map(({ name, figures }) => [name, ...bySize.map(({ figure }) => formatSpread(figures[figure]))]),
    ),
  ];
  return [...tables, runDetails].join('\n');
}

interface Column {
  title: string;
  figure: FigureName;
}

/** Formats a median and its quartiles, such as `6.86 (6.15–7.16)`. Omits quartiles that are equal. */
function formatSpread(spread: Spread | undefined): string {
  if (!spread) return '–';
  const [median, p25, p75] = [spread.median, spread.p25, spread.p75].map(formatFigure);
  return spread.p25 === spread.p75 ? median! : `${median} (${p25}–${p75})`;
}

/** Returns a Markdown table. All columns except the first contain numbers. */
function markdownTable(head: string[], rows: string[][]): string {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
