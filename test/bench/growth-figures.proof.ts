import { describe, expect, test } from '@jest/globals';
import { assumptions, listReadUnits } from '../../infra/operate/cost/model.ts';
import { measuredTables, ratioOf, steepRows } from './growth-figures.ts';

const taking = (...medians: number[]) =>
  medians.map((median) => ({ median, p25: median - 0.1, p75: median + 0.2 }));

describe('a request is flat', () => {
  test('if the slowest store takes at most a fifth longer than the quickest, wherever it is', () => {
    expect(ratioOf(taking(2, 2.2, 2.4))).toBeCloseTo(1.2);
    expect(ratioOf(taking(3, 2, 2.5))).toBeCloseTo(1.5);
    const rows = [
      { request: 'flat', times: taking(2, 2.2, 2.39) },
      { request: 'steep', times: taking(2, 2.2, 2.41) },
      { request: 'falling', times: taking(2.41, 2.2, 2) },
    ];
    expect(steepRows({ stocks: [], rows }).map(({ request }) => request)).toEqual(['steep', 'falling']);
  });

  test('or is marked in the table', () => {
    const stocks = [1_000, 1_000_000].map((pets) => ({ pets, partitions: 1 }));
    const rows = [
      { request: 'list of 20', times: taking(2, 2.2) },
      { request: 'create', times: taking(2, 3) },
    ];
    const bySize = { stocks, rows };
    const byPartitions = { stocks, rows: [] };
    const tables = measuredTables({ circumstances: '', requests: 500, bySize, byPartitions });
    expect(tables).toContain('| list of 20 | 2.00 (1.90–2.20) | 2.20 (2.10–2.40) | 1.10 | yes |\n');
    expect(tables).toContain('| create | 2.00 (1.90–2.20) | 3.00 (2.90–3.20) | 1.50 | **no** |\n');
  });
});

// 21 pets of 165 bytes are 3,465 bytes, 101 of them 16,665: one and five pieces of 4 KB, half a unit each.
test.each([
  [1, 20, 0.5],
  [4, 20, 2],
  [16, 20, 8],
  [1, 100, 2.5],
  [4, 100, 10],
])('a list over %d keys with limit %d reads %d units', (partitions, limit, units) => {
  expect(listReadUnits(partitions, limit, assumptions.petBytes)).toBe(units);
});
