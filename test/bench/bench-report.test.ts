import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { runModule } from '../support/run-command.ts';
import { hasTools } from '../support/tools.ts';
import { assumptions } from '../../infra/operate/cost/model.ts';
import { rowOf } from './bench-bounds.ts';
import { plots } from './bench-plot.ts';
import { computedParts, functionNames, report } from './bench-report.ts';
import { readResults, type Results, type Row } from './bench-results.ts';
import { chosenMegabytes } from './memory-cost.ts';
import { withoutStyles } from './plot.ts';
import { spreadOf } from './spread.ts';

const inDocs = (file: string) => readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8');

describe('docs/performance.md', () => {
  const document = inDocs('performance.md');

  test('says what was measured; `npm run bench -- --report` makes it so', () => {
    const parts = Array.from(document.matchAll(computedParts), ([whole, head, name]) => [
      name,
      whole.slice(head!.length, -'<!-- end -->'.length),
    ]);
    expect(Object.fromEntries(parts)).toEqual(report(readResults()));
  });

  (hasTools() ? describe : describe.skip)('with its plots', () => {
    test.each(Object.keys(plots))('shows it in %s', (file) => {
      expect(document).toContain(`](${file})`);
      expect(withoutStyles(inDocs(file))).toBe(withoutStyles(plots[file]!(readResults())));
    });
  });
});

const flat = (value: number) => ({ median: value, p25: value, p75: value });

function row(
  name: string,
  megabytes: number,
  figures: { cold?: number; cpu?: number; billed?: number } = {},
): Row {
  const { cold = 100, cpu = 1_000, billed = 6 } = figures;
  return {
    name,
    megabytes,
    bundleBytes: 123_456,
    init: flat(90),
    first: flat(cold - 90),
    cold: { median: cold, p25: cold - 1.26, p75: cold + 2, rounds: [cold, cold * 1.1] },
    p50: flat(1.2),
    p99: flat(12),
    billed: flat(billed),
    cpu: { ...flat(cpu), rounds: [cpu] },
    resident: flat(80),
  };
}

const results: Results = {
  date: '2026-11-21T12:00:00.000Z',
  machine: { processor: 'A processor', cores: 2, memoryGigabytes: 8, system: 'Linux 6' },
  node: 'v24.21.0',
  runtime: 'aws-lambda-ric 4.0.2',
  quota: { kind: 'cgroup v1', periodMilliseconds: 20 },
  counts: { coldStarts: 15, warmInstances: 3, warmRequests: 300 },
  rows: [],
};

const linesOf = (rows: Row[], part: keyof ReturnType<typeof report>) =>
  report({ ...results, rows })[part].split('\n');

describe('the report', () => {
  test('says what is met beside the yardsticks, what is not, and what was not measured', () => {
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
    expect(linesOf(rows, 'bounds').slice(2)).toEqual([
      '| `list-pets`, init and first answer at 256 MB ÷ bare list, primed | 1.41 | 1.40 | **no** |',
      '| `create-pet`, init and first answer at 256 MB ÷ bare create, primed | 1.40 | 1.40 | yes |',
      '| `list-pets`, init and first answer at 256 MB ÷ bare list | 0.50 | 0.50 | yes |',
      '| `create-pet`, init and first answer at 256 MB ÷ bare create | – | 0.50 | not measured |',
      '| `list-pets`, CPU of a warm request ÷ bare list | 1.16 (1.15–1.16) | 1.15 | **no** |',
      '| `create-pet`, CPU of a warm request ÷ bare create | – | 1.15 | not measured |',
      '| the same without what hello world takes: `list-pets` ÷ bare list | 1.19 (1.19–1.20) | 1.15 | **no** |',
      '| the same without what hello world takes: `create-pet` ÷ bare create | – | 1.15 | not measured |',
      '',
    ]);
  });

  test.each([
    [1_140, 1_160, 'by its median'],
    [1_100, 1_210, '**not by its median**'],
  ])('leaves open what lies within the middle half: CPU of %d and %d µs', (one, other, verdict) => {
    const rows = [row('list-pets', 256, { cpu: one }), row('list-pets', 512, { cpu: other })];
    rows.push(row('bare list', 256), row('bare list', 512));
    expect(linesOf(rows, 'bounds')[6]).toMatch(new RegExp(`\\| ${RegExp.escape(verdict)} \\|$`));
  });

  test('has the middle half behind a median, and a column for each memory size', () => {
    const rows = [row('list-pets', 256), row('list-pets', 1_769, { cold: 95.5 }), row('bare list', 1_769)];
    expect(linesOf(rows, 'cold requests').slice(0, 5)).toEqual([
      '| Init and first answer, ms | 256 MB | 1,769 MB |',
      '| --- | ---: | ---: |',
      '| `list-pets` | 100 (98.7–102) | 95.5 (94.2–97.5) |',
      '| bare list | not measured | 100 (98.7–102) |',
      '',
    ]);
  });

  test('says which memory sizes are left out, and why', () => {
    const { quota: _, ...withoutQuota } = results;
    const parts = report({
      ...withoutQuota,
      runtime: 'stand-in',
      leftOut: { megabytes: [128, 256], reason: 'a CPU quota takes Linux' },
      rows: [row('list-pets', 1_769)],
    });
    expect(parts.circumstances).toContain(
      '- Nothing set their share of a core: a CPU quota takes Linux. 128 and 256 MB are left out.\n',
    );
    expect(parts.circumstances).toContain(
      "- The functions ran under stand-in for AWS's runtime interface client; `npm ci --prefix test/bench/runtime` gets it",
    );
    expect(parts['warm requests']).toContain('| `list-pets` | not measured | not measured | 1.20 |\n');
  });

  test('has lists over several keys beside those over as many as are deployed', () => {
    const rows = [row('list-pets', 512), row('list-pets over 4 keys', 512, { cpu: 2_000 })];
    expect(linesOf(rows, 'list partitions').slice(2)).toEqual([
      '| `list-pets` | 1000 | 1.20 | 80.0 |',
      '| `list-pets` over 4 keys | 2000 | 1.20 | 80.0 |',
      '',
    ]);
  });

  test('has what a million requests cost by memory size, the size in use in bold', () => {
    const chosen = chosenMegabytes('list-pets')!;
    expect(chosen).toEqual(expect.any(Number));
    const rows = [row('list-pets', chosen), row('list-pets', 4_096, { billed: 20 })];
    const lines = linesOf(rows, 'memory size');
    // 4 GB for 20 ms × 0.0000133334 and 0.0000166667
    expect(lines[2]).toBe('| `list-pets` | **6.0** | 20.0 |');
    expect(lines[6]).toMatch(/^\| `list-pets` \| \*\*0\.\d{3}\*\* \| 1\.067 \|$/);
    expect(lines[10]).toMatch(/^\| `list-pets` \| \*\*0\.\d{3}\*\* \| 1\.333 \|$/);
  });
});

test('the cost model charges what was measured of the sizes in use', () => {
  const measured = functionNames.map((name) => rowOf(readResults(), name, chosenMegabytes(name)!)!);
  const { listPets, createPet, getPet, authorizer } = assumptions.billedMilliseconds;
  expect(measured.map(({ billed }) => billed.median.toFixed(1))).toEqual(
    [listPets, createPet, getPet, authorizer].map((milliseconds) => milliseconds.toFixed(1)),
  );
});

test('a spread is the median and the bounds of the middle half, between values in proportion', () => {
  expect(spreadOf([4, 1, 3, 2], 2)).toEqual({ median: 2.5, p25: 1.75, p75: 3.25 });
  expect(spreadOf([7], 0)).toEqual(flat(7));
});

test('an option that there is not is refused in a sentence', async () => {
  expect(await runModule('test/bench/bench.ts', ['--fast'])).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Unknown option '--fast'.*\n$/),
  });
});
