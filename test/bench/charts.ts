import { comparisons, type FigureName, formatFigure, type Results, type Spread } from './report.ts';

// Draws the charts in docs/pictures. GitHub renders each SVG as an image, so a chart has no scripts, fonts or links.

interface Chart {
  title: string;
  /** What the chart shows, and which direction is better. */
  subtitle: string;
  columns: { title: string; figure: FigureName }[];
  /** Whether the longest bar of each column fills the column. @default false - all columns have the same scale */
  hasScalePerColumn?: boolean;
}

/** A row of a chart, with a bar for each column. */
interface Bars {
  name: string;
  /** Whether the bars show the service itself, not a baseline. */
  isService: boolean;
  values: Spread[];
}

const SUBTITLE =
  'Medians of the measured values in ms; shorter is better. Blue: functions of this service. Gray: minimal functions.';

const charts: Record<string, Chart> = {
  'cold-starts': {
    title: 'Cold starts, from the start of the process to the first response',
    subtitle: SUBTITLE,
    columns: [
      { title: '256 MB of memory', figure: 'cold at 256 MB' },
      { title: '512 MB of memory', figure: 'cold at 512 MB' },
    ],
  },
  'warm-requests': {
    title: 'Latency of warm requests with 512 MB of memory',
    subtitle: `${SUBTITLE} Each column has its own scale.`,
    columns: [
      { title: 'Median (p50)', figure: 'p50 at 512 MB' },
      { title: '99th percentile (p99)', figure: 'p99 at 512 MB' },
    ],
    hasScalePerColumn: true,
  },
};

const FONT = `system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif`;
const WIDTH = 880;
const MARGIN = 24;
/** Height of the title and the subtitle. */
const TOP = 76;

/** Colors of GitHub's themes. Each text has a contrast of at least 4.5, and each bar at least 3. */
const themes = {
  light: {
    background: '#ffffff',
    text: '#1f2328',
    muted: '#59636e',
    grid: '#d1d9e0',
    service: '#0969da',
    baseline: '#818b98',
  },
  dark: {
    background: '#0d1117',
    text: '#f0f6fc',
    muted: '#9198a1',
    grid: '#3d444d',
    service: '#4493f8',
    baseline: '#6e7681',
  },
};

type Theme = (typeof themes)['light'];

/** Returns the pictures of `docs/performance.md` by path, for light and dark pages. */
export function pictures(results: Results): Record<string, string> {
  const files = Object.entries(charts).flatMap(([name, chart]) =>
    Object.entries(themes).map(([theme, colors]) => [
      `docs/pictures/${name}-${theme}.svg`,
      draw(chart, groupsOf(chart, results), results.runDetails, colors),
    ]),
  );
  return Object.fromEntries(files);
}

/** Returns each function with its baselines, without the baselines that were not measured. */
function groupsOf({ columns }: Chart, { rows }: Results): Bars[][] {
  return Object.entries(comparisons).map(([service, baselines]) =>
    [service, ...baselines].flatMap((name): Bars[] => {
      const figures = rows.find((row) => row.name === name)!.figures;
      const values = columns.flatMap(({ figure }) => figures[figure] ?? []);
      if (values.length < columns.length) return [];
      return [{ name: name.replaceAll('`', ''), isService: name === service, values }];
    }),
  );
}

/** Draws a horizontal bar from 0 to each median, and a thin line from the first to the third quartile. */
function draw(chart: Chart, groups: Bars[][], runDetails: string, theme: Theme): string {
  const { title, subtitle, columns, hasScalePerColumn = false } = chart;
  const labelWidth = 196;
  const rowHeight = 27;
  const groupGap = 16;
  const columnWidth = (WIDTH - 2 * MARGIN - labelWidth) / columns.length;
  /** Width of the plot in a column. The labels of the longest bars are beside it. */
  const plotWidth = columnWidth - 78;
  const rows = groups.flat();
  const largest = columns.map((_, column) => Math.max(...rows.map(({ values }) => values[column]!.p75)));
  const maximumOf = (column: number) => (hasScalePerColumn ? largest[column]! : Math.max(...largest));
  const left = (column: number) => MARGIN + labelWidth + column * columnWidth;
  const xOf = (value: number, column: number) => left(column) + (value / maximumOf(column)) * plotWidth;
  const plotTop = TOP + 30;
  const plotBottom = plotTop + rows.length * rowHeight + (groups.length - 1) * groupGap;

  const axes = columns.flatMap((column, index) => [
    text(left(index), TOP + 12, column.title, theme.text, { weight: 600 }),
    ...ticksUpTo(maximumOf(index)).flatMap((tick) => {
      const x = xOf(tick, index);
      return [
        line(x, plotTop, x, plotBottom, theme.grid),
        text(x, plotBottom + 18, tick.toLocaleString('en'), theme.muted, { anchor: 'middle', size: 12 }),
      ];
    }),
  ]);
  const bars = groups.flatMap((group, groupIndex) => {
    const above = groups.slice(0, groupIndex).flat().length * rowHeight + groupIndex * groupGap;
    return group.flatMap(({ name, isService, values }, row) => {
      const top = plotTop + above + row * rowHeight;
      const middle = top + rowHeight / 2;
      const weight = isService ? 600 : 400;
      const color = isService ? theme.service : theme.baseline;
      return [
        text(MARGIN + labelWidth - 12, middle + 5, name, theme.text, { anchor: 'end', weight }),
        ...values.flatMap(({ median, p25, p75 }, column) => {
          const [x, width] = [left(column), xOf(median, column) - left(column)];
          const label = `${formatFigure(median)} ms`;
          return [
            `<rect x="${x}" y="${top + 4}" width="${round(width)}" height="${rowHeight - 8}" fill="${color}"/>`,
            line(xOf(p25, column), middle, xOf(p75, column), middle, theme.text, 1.5),
            text(xOf(Math.max(median, p75), column) + 8, middle + 5, label, theme.text, { weight }),
          ];
        }),
      ];
    });
  });
  const notes = [
    'bare SDK: one database call, written as in the documentation of the AWS SDK. no SDK: the same call without the AWS SDK.',
    'primed: runs its request during init, as this service does. Thin lines: first to third quartile.',
    `Emulated on one machine on ${/\d{4}-\d\d-\d\d/.exec(runDetails)![0]}, not measured on AWS.`,
  ];
  const bottom = plotBottom + 48;
  const height = bottom + notes.length * 18;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="${FONT}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" rx="6" fill="${theme.background}"/>`,
    text(MARGIN, 36, title, theme.text, { weight: 600, size: 18 }),
    text(MARGIN, 58, subtitle, theme.muted, { size: 13 }),
    ...axes,
    ...bars,
    ...notes.map((note, index) => text(MARGIN, bottom + index * 18, note, theme.muted, { size: 12 })),
    '</svg>\n',
  ].join('\n');
}

interface TextStyle {
  anchor?: 'start' | 'middle' | 'end';
  weight?: number;
  size?: number;
}

function text(x: number, y: number, content: string, color: string, style: TextStyle = {}): string {
  const { anchor = 'start', weight = 400, size = 14 } = style;
  return `<text x="${round(x)}" y="${round(y)}" fill="${color}" text-anchor="${anchor}" font-weight="${weight}" font-size="${size}">${escaped(content)}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number, color: string, width = 1): string {
  return `<path d="M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}" stroke="${color}" stroke-width="${width}"/>`;
}

/** Returns the ticks of an axis from 0 to `maximum`: 0, and two to five multiples of 1, 2 or 5 times a power of ten. */
function ticksUpTo(maximum: number): number[] {
  const power = 10 ** Math.floor(Math.log10(maximum));
  const step = [0.2, 0.5, 1, 2].map((factor) => factor * power).find((each) => maximum / each < 6)!;
  return Array.from({ length: Math.floor(maximum / step) + 1 }, (_, index) => index * step);
}

const round = (value: number) => Number(value.toFixed(1));
const escaped = (content: string) => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
