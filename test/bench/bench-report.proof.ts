import { describe, expect, test } from '@jest/globals';
import { assumptions } from '../../infra/operate/cost/model.ts';
import { rowOf } from './bench-bounds.ts';
import { functionNames, report } from './bench-report.ts';
import { readResults, type Row } from './bench-results.ts';
import { chosenMegabytes, dollarsPerMillion } from './memory-cost.ts';
import { spreadOf } from './spread.ts';

const flat = (value: number) => ({ median: value, p25: value, p75: value });

function row(name: string, megabytes: number, figures: { cold?: number; cpu?: number } = {}): Row {
  const { cold = 100, cpu = 1_000 } = figures;
  return {
    name,
    megabytes,
    bundleBytes: 123_456,
    init: flat(90),
    first: flat(cold - 90),
    cold: { ...flat(cold), rounds: [cold, cold * 1.1] },
    p50: flat(1.2),
    p99: flat(12),
    billed: flat(20),
    cpu: { ...flat(cpu), rounds: [cpu] },
    resident: flat(80),
  };
}

function boundsTable(rows: Row[]): string[] {
  return report({ ...readResults(), rows })
    .bounds.split('\n')
    .slice(2, -1);
}

describe('a bound', () => {
  test('is met, missed or not measured', () => {
    const rows = [
      row('list-pets', 256, { cold: 141, cpu: 1_150 }),
      row('list-pets', 512, { cpu: 1_160 }),
      row('create-pet', 256, { cold: 140 }),
      row('bare list', 256, { cold: 282 }),
      row('bare list', 512),
      row('bare list, primed', 256),
      row('bare create, primed', 256),
      row('hello world', 256, { cpu: 200 }),
      row('hello world', 512, { cpu: 200 }),
    ];
    expect(boundsTable(rows)).toEqual([
      '| `list-pets`, init and first answer at 256 MB ÷ bare list, primed | 1.41 | 1.40 | **no** |',
      '| `create-pet`, init and first answer at 256 MB ÷ bare create, primed | 1.40 | 1.40 | yes |',
      '| `list-pets`, init and first answer at 256 MB ÷ bare list | 0.50 | 0.50 | yes |',
      '| `create-pet`, init and first answer at 256 MB ÷ bare create | – | 0.50 | not measured |',
      '| `list-pets`, CPU of a warm request ÷ bare list | 1.16 (1.15–1.16) | 1.15 | **no** |',
      '| `create-pet`, CPU of a warm request ÷ bare create | – | 1.15 | not measured |',
      '| the same without what hello world takes: `list-pets` ÷ bare list | 1.19 (1.19–1.20) | 1.15 | **no** |',
      '| the same without what hello world takes: `create-pet` ÷ bare create | – | 1.15 | not measured |',
    ]);
  });

  test.each([
    [1_140, 1_160, '| by its median |'],
    [1_100, 1_210, '| **not by its median** |'],
  ])('within the middle half is open: CPU of %d and %d µs', (one, other, verdict) => {
    const rows = [row('list-pets', 256, { cpu: one }), row('list-pets', 512, { cpu: other })];
    expect(boundsTable([...rows, row('bare list', 256), row('bare list', 512)])[4]).toContain(verdict);
  });
});

test('the cost model charges what was measured of the sizes in use', () => {
  const measured = functionNames.map((name) => rowOf(readResults(), name, chosenMegabytes(name)!)!);
  const { listPets, createPet, getPet, authorizer } = assumptions.billedMilliseconds;
  expect(measured.map(({ billed }) => billed.median.toFixed(1))).toEqual(
    [listPets, createPet, getPet, authorizer].map((milliseconds) => milliseconds.toFixed(1)),
  );
});

test('a million requests of 20 ms at 4 GB cost 80,000 GB-seconds', () => {
  expect(dollarsPerMillion(row('list-pets', 4_096), 'arm64')).toBeCloseTo(80_000 * 0.0000133334, 6);
});

test('a spread is the median and the bounds of the middle half, interpolated', () => {
  expect(spreadOf([4, 1, 3, 2], 2)).toEqual({ median: 2.5, p25: 1.75, p75: 3.25 });
  expect(spreadOf([7], 0)).toEqual(flat(7));
});
