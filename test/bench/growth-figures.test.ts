import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { assumptions, listReadUnits } from '../../infra/operate/cost/model.ts';
import { stages } from '../../infra/stages.ts';
import { hasTools } from '../support/tools.ts';
import { runModule } from '../support/run-command.ts';
import {
  computedTables,
  type Figures,
  measuredTables,
  ratioOf,
  readFigures,
  simulate,
  steepRows,
} from './growth-figures.ts';
import { plotGrowth, plotSimulation } from './growth-plot.ts';
import { limitTables } from './partition-limits.ts';
import { withoutStyles } from './plot.ts';

const taking = (...medians: number[]) =>
  medians.map((median) => ({ median, p25: median - 0.1, p75: median + 0.2 }));

function inDocs(file: string): string {
  return readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8');
}

describe('docs/scaling.md', () => {
  const document = inDocs('scaling.md');
  const figures = readFigures();

  test('says what was measured; `npm run bench:growth -- --write` measures it again', () => {
    expect(document).toContain(`npm run bench:growth -- --write -->\n${measuredTables(figures)}<!-- end -->`);
  });

  test('says what is computed; `npm run bench:growth -- --paper --write` makes it so', () => {
    expect(document).toContain(
      `npm run bench:growth -- --paper --write -->\n${computedTables(figures.simulated)}<!-- end -->`,
    );
  });

  (hasTools() ? describe : describe.skip)('with its plots', () => {
    test('shows it', () => {
      expect(withoutStyles(inDocs('growth.svg'))).toBe(withoutStyles(plotGrowth(figures)));
      expect(withoutStyles(inDocs('partitions.svg'))).toBe(withoutStyles(plotSimulation(figures.simulated)));
    });
  });

  test('says what the simulation gives today', () => {
    const { seconds, seed, rates } = figures.simulated;
    expect(rates).toContainEqual(simulate(seconds, seed, [3_000]).rates[0]);
  });
});

describe('a request is flat', () => {
  test('when the slowest store takes at most a fifth longer than the quickest, wherever it stands', () => {
    expect(ratioOf(taking(2, 2.2, 2.4))).toBeCloseTo(1.2);
    expect(ratioOf(taking(3, 2, 2.5))).toBeCloseTo(1.5);
    const rows = [
      { request: 'flat', times: taking(2, 2.2, 2.39) },
      { request: 'steep', times: taking(2, 2.2, 2.41) },
      { request: 'falling', times: taking(2.41, 2.2, 2) },
    ];
    expect(steepRows({ stocks: [], rows }).map(({ request }) => request)).toEqual(['steep', 'falling']);
  });

  test('and said not to be in the table otherwise', () => {
    const stocks = [1_000, 1_000_000].map((pets) => ({ pets, partitions: 1 }));
    const figures: Figures = {
      circumstances: 'Here and now',
      requests: 500,
      bySize: {
        stocks,
        rows: [
          { request: 'list of 20', times: taking(2, 2.2) },
          { request: 'create', times: taking(2, 3) },
        ],
      },
      byPartitions: { stocks, rows: [{ request: 'a pet', times: taking(2, 8) }] },
      simulated: simulate(1, 1, []),
    };
    expect(measuredTables(figures).split('\n')).toEqual(
      expect.arrayContaining([
        'Here and now; 500 requests of each kind to each store.',
        '| Median in ms (half of all) | 1,000 pets | 1,000,000 pets | slowest ÷ quickest | at most 1.2 |',
        '| list of 20 | 2.00 (1.90–2.20) | 2.20 (2.10–2.40) | 1.10 | yes |',
        '| create | 2.00 (1.90–2.20) | 3.00 (2.90–3.20) | 1.50 | **no** |',
        '| a pet | 2.00 (1.90–2.20) | 8.00 (7.90–8.20) | 4.00 |',
      ]),
    );
  });
});

describe('on paper', () => {
  // 21 pets of 165 bytes are 3,465 bytes, 101 of them 16,665: one and five pieces of 4 KB, half a unit each.
  test.each([
    [1, 20, 0.5],
    [4, 20, 2],
    [16, 20, 8],
    [1, 100, 2.5],
    [4, 100, 10],
  ])(
    'a list over %d keys with limit %d reads for each key by itself: %d units',
    (partitions, limit, units) => {
      expect(listReadUnits(partitions, limit, assumptions.petBytes)).toBe(units);
    },
  );

  test('more keys sustain more creates and fewer lists, up to the limits of stage and account', () => {
    const settings = {
      ...stages.production,
      requestsPerSecond: 5_000,
      maxWriteUnitsPerSecond: 6_000,
      maxReadUnitsPerSecond: 20_000,
    };
    const [creates, lists] = limitTables(settings).split('\n\n');
    expect(creates).toContain('| keys of an index | 1,000 | 2,000 | 4,000 | 16,000 |');
    expect(creates).toContain('| `requestsPerSecond` of the stage | 5,000 | 5,000 | 5,000 | 5,000 |');
    expect(creates).toContain('| `maxWriteUnitsPerSecond` of the stage | 6,000 | 6,000 | 6,000 | 6,000 |');
    expect(lists).toContain('| keys of an index | 6,000 | 6,000 | 6,000 | 6,000 |');
    expect(lists).toContain('| `maxReadUnitsPerSecond` of the stage | 40,000 | 20,000 | 10,000 | 2,500 |');
    expect(lists).toContain('| a new table on demand | 24,000 | 12,000 | 6,000 | 1,500 |');
  });
});

test('sizes that cannot be compared are refused in a sentence', async () => {
  expect(await runModule('test/bench/growth.ts', ['--sizes', '1000,10'])).toEqual({
    code: 1,
    stdout: '',
    stderr: '--sizes must be an integer from 1000 to 10000000.\n',
  });
});
