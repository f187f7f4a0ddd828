import { formatFigure, type Spread } from './measurements.ts';

// Draws the charts in docs/pictures. GitHub renders each SVG as an image, so a chart has no scripts, fonts or links.

interface Captions {
  title: string;
  /** What the chart shows, and which direction is better. */
  subtitle: string;
  /** Lines below the chart: what its names mean, and how and when its figures were measured. */
  notes: string[];
}

/** A bar for each column of a chart. */
export interface Bars {
  name: string;
  /** Whether the bars show the service itself, not a baseline. */
  isService: boolean;
  values: Spread[];
}

export interface BarChart extends Captions {
  columns: string[];
  /** Whether the longest bar of each column fills the column. @default false - all columns have the same scale */
  hasScalePerColumn?: boolean;
  /** Rows that readers compare with each other. */
  groups: Bars[][];
}

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

/** Returns the files of a chart, for light and dark pages, by path. @param name start of the files' names */
export function chartFiles(name: string, draw: (theme: Theme) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(themes).map(([theme, colors]) => [`docs/pictures/${name}-${theme}.svg`, draw(colors)]),
  );
}

/** Draws a horizontal bar from 0 to each median, and a thin line from the first to the third quartile. */
export function barChart(
  { columns, hasScalePerColumn = false, groups, ...captions }: BarChart,
  theme: Theme,
): string {
  const labelWidth = 196;
  const rowHeight = 27;
  const groupGap = 16;
  const columnWidth = (WIDTH - 2 * MARGIN - labelWidth) / columns.length;
  /** Width of the plot in a column. The labels of the longest bars are beside it. */
  const plotWidth = columnWidth - 78;
  const rows = groups.flat();
  const maximumOf = (column: number) =>
    largestOf(rows.map(({ values }) => ({ values: hasScalePerColumn ? [values[column]!] : values })));
  const scale = (value: number, column: number) => (value / maximumOf(column)) * plotWidth;
  const left = (column: number) => MARGIN + labelWidth + column * columnWidth;
  const plotTop = TOP + 30;
  const plotBottom = plotTop + rows.length * rowHeight + (groups.length - 1) * groupGap;

  const axes = columns.flatMap((column, index) => [
    text(left(index), TOP + 12, column, theme.text, { weight: 600 }),
    ...ticksUpTo(maximumOf(index)).flatMap((tick) => {
      const x = left(index) + scale(tick, index);
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
      return [
        text(MARGIN + labelWidth - 12, middle + 5, name, theme.text, { anchor: 'end', weight }),
        ...values.flatMap(({ median, p25, p75 }, column) => {
          const x = left(column);
          const end = (value: number) => x + scale(value, column);
          const color = isService ? theme.service : theme.baseline;
          return [
            `<rect x="${x}" y="${top + 4}" width="${round(scale(median, column))}" height="${rowHeight - 8}" fill="${color}"/>`,
            line(end(p25), middle, end(p75), middle, theme.text, 1.5),
            text(end(Math.max(median, p75)) + 8, middle + 5, `${formatFigure(median)} ms`, theme.text, {
              weight,
            }),
          ];
        }),
      ];
    });
  });
  return svg(captions, plotBottom + 24, [...axes, ...bars], theme);
}

/** @param bottom end of the elements, below which the notes follow */
function svg(captions: Captions, bottom: number, elements: string[], theme: Theme): string {
  const { title, subtitle, notes } = captions;
  const height = bottom + 24 + notes.length * 18;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="${FONT}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" rx="6" fill="${theme.background}"/>`,
    text(MARGIN, 36, title, theme.text, { weight: 600, size: 18 }),
    text(MARGIN, 58, subtitle, theme.muted, { size: 13 }),
    ...elements,
    ...notes.map((note, index) => text(MARGIN, bottom + 24 + index * 18, note, theme.muted, { size: 12 })),
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

/** Returns the largest third quartile. */
function largestOf(rows: { values: Spread[] }[]): number {
  return Math.max(...rows.flatMap(({ values }) => values.map(({ p75 }) => p75)));
}

/** Returns the ticks of an axis from 0 to `maximum`: 0, and two to five multiples of 1, 2 or 5 times a power of ten. */
function ticksUpTo(maximum: number): number[] {
  const power = 10 ** Math.floor(Math.log10(maximum));
  const step = [0.2, 0.5, 1, 2].map((factor) => factor * power).find((each) => maximum / each < 6)!;
  return Array.from({ length: Math.floor(maximum / step) + 1 }, (_, index) => index * step);
}

const round = (value: number) => Number(value.toFixed(1));
const escaped = (content: string) => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
