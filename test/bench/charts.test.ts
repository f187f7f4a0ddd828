import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync, statSync } from 'node:fs';
import { barChart, chartFiles, lineChart } from './charts.ts';

const spread = (median: number) => ({ median, p25: median * 0.9, p75: median * 1.1 });
const captions = { title: 'Latency', subtitle: 'Median', notes: ['Measured & compared'] };

const bars = chartFiles('bars', (theme) =>
  barChart(
    {
      ...captions,
      columns: ['256 MB', '512 MB'],
      groups: [
        [
          { name: 'ours', isService: true, values: [spread(100), spread(50)] },
          { name: 'theirs', isService: false, values: [spread(300), spread(27.14)] },
        ],
      ],
    },
    theme,
  ),
);

const lines = chartFiles('lines', (theme) =>
  lineChart(
    {
      ...captions,
      positions: [1_000, 10_000, 100_000].map((value) => ({ value, label: `${value} books` })),
      lines: [
        { name: 'get', values: [spread(2), spread(4), spread(3)] },
        { name: 'list', values: [spread(2), spread(4), spread(3.01)] },
      ],
    },
    theme,
  ),
);

const textsIn = (svg: string) => Array.from(svg.matchAll(/<text [^>]*>([^<]*)</g), ([, content]) => content);
const numbersIn = (svg: string, pattern: RegExp) =>
  Array.from(svg.matchAll(pattern), ([, digits]) => Number(digits));

describe('a chart', () => {
  test.each(Object.entries({ bars, lines }))('of %s has the same texts in both themes', (name, files) => {
    expect(Object.keys(files)).toEqual([`docs/pictures/${name}-light.svg`, `docs/pictures/${name}-dark.svg`]);
    const [light, dark] = Object.values(files).map(textsIn);
    expect(light).toContain('Measured &amp; compared');
    expect(dark).toEqual(light);
  });

  test('of bars shows each median, and bars whose lengths have the ratios of the medians', () => {
    const [svg] = Object.values(bars);
    const medians = ['100 ms', '50.0 ms', '300 ms', '27.1 ms'];
    expect(textsIn(svg!).filter((content) => content!.endsWith(' ms'))).toEqual(medians);
    const [ours, smaller, theirs] = numbersIn(svg!, /<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)"/g);
    expect(ours! / smaller!).toBeCloseTo(2, 1);
    expect(theirs! / ours!).toBeCloseTo(3, 1);
  });

  test('of bars can have a scale for each column, so that the longest bar of each column has the same length', () => {
    const columns = ['p50', 'p99'];
    const groups = [[{ name: 'ours', isService: true, values: [spread(6), spread(27)] }]];
    const files = chartFiles('bars', (theme) =>
      barChart({ ...captions, columns, hasScalePerColumn: true, groups }, theme),
    );
    const [p50, p99] = numbersIn(Object.values(files)[0]!, /<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)"/g);
    expect(p50).toBeGreaterThan(100);
    expect(p99).toBe(p50);
  });

  test('of lines begins at 0, and keeps the labels of the last medians apart, so that each can be read', () => {
    const [svg] = Object.values(lines);
    expect(textsIn(svg!)).toEqual(expect.arrayContaining(['0', 'list: 3.01 ms', 'get: 3.00 ms']));
    const [high, low] = numbersIn(svg!, /y="([\d.]+)"[^>]*>(?:list|get): /g);
    expect(low! - high!).toBeGreaterThan(15);
    // Twice the latency is twice as far from the line at 0.
    const [zero] = numbersIn(svg!, /<path d="M[\d.]+ ([\d.]+)L/g);
    const [start, middle] = numbersIn(svg!.split('<polyline').at(-1)!, /cy="([\d.]+)"/g);
    expect((zero! - middle!) / (zero! - start!)).toBeCloseTo(2, 1);
  });
});

describe('docs/pictures', () => {
  const { rows, comparisons } = JSON.parse(readFileSync('test/bench/results.json', 'utf8'));

  test.each([
    ['cold-starts', 'cold at 256 MB'],
    ['cold-starts', 'cold at 512 MB'],
    ['warm-requests', 'p50 at 512 MB'],
    ['warm-requests', 'p99 at 512 MB'],
  ])('shows in the charts %s the stored medians of a function and of its baselines: %s', (chart, figure) => {
    const [{ name: service }] = comparisons;
    const baselines = comparisons
      .filter(({ name }: any) => name === service)
      .map(({ baseline }: any) => baseline);
    const compared = new Set([service, ...baselines]);
    const medians = rows
      .filter(({ name, figures }: any) => compared.has(name) && figures[figure])
      .map(({ figures }: any) => `${figures[figure].median.toPrecision(3)} ms`);
    expect(medians.length).toBeGreaterThan(2);
    for (const theme of ['light', 'dark'])
      expect(textsIn(readFileSync(`docs/pictures/${chart}-${theme}.svg`, 'utf8'))).toEqual(
        expect.arrayContaining(medians),
      );
  });

  const files = globSync('docs/pictures/*.svg').map((file) => file.replaceAll('\\', '/'));

  test.each(files)('contains %s, which is below 20 kB and which a page shows', (file) => {
    expect(statSync(file).size).toBeLessThan(20_000);
    const pages = globSync('docs/*.md').map((page) => readFileSync(page, 'utf8'));
    expect(pages.some((page) => page.includes(`="${file.replace('docs/', '')}"`))).toBe(true);
  });
});
