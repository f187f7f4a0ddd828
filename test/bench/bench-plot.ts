import { functionNames } from './bench-report.ts';
import type { Results } from './bench-results.ts';
import { architectures, chosenMegabytes, dollarsPerMillion } from './memory-cost.ts';
import { draw, xAxis, yAxis } from './plot.ts';

/** The images of `docs/performance.md`, by file. */
export const plots: Record<string, (results: Results) => string> = {
  'cold-requests.svg': plotCold,
  'memory-size.svg': plotCost,
};

const COLD_NAMES = ['list-pets', 'create-pet', 'bare list', 'bare list, primed', 'hello world'];

/** What the first client of an instance waits for, by memory size. */
function plotCold({ date, machine, rows }: Results): string {
  const sizes = [...new Set(rows.map(({ megabytes }) => megabytes))].toSorted((one, other) => one - other);
  return draw('Init and first answer by memory size', `${date.slice(0, 10)}, ${machine.processor}, medians`, {
    grid: { left: 90, right: 40, top: 100, bottom: 60 },
    xAxis: { ...xAxis, type: 'category', name: 'memory (MB)', data: sizes },
    yAxis: { ...yAxis, name: 'init and first answer (ms)' },
    series: COLD_NAMES.map((name) => ({
      type: 'line',
      name,
      data: sizes.map((size) => rows.find((row) => row.name === name && row.megabytes === size)?.cold.median),
    })),
  });
}

/** The places of four plots. */
const places = [
  { left: 80, width: 390, top: 110, height: 190 },
  { left: 570, width: 390, top: 110, height: 190 },
  { left: 80, width: 390, top: 390, height: 190 },
  { left: 570, width: 390, top: 390, height: 190 },
];

/** What a million requests cost against how long each takes, with the memory sizes beside the points. */
function plotCost({ rows }: Results): string {
  const axes = functionNames.map((_, gridIndex) => gridIndex);
  return draw(
    'What memory costs, and what it gains, by memory size in MB',
    'large points: the sizes in use',
    {
      grid: places,
      xAxis: axes.map((gridIndex) => ({
        ...xAxis,
        gridIndex,
        name: `charged for a warm ${functionNames[gridIndex]} (ms)`,
      })),
      yAxis: axes.map((gridIndex) => ({
        ...yAxis,
        gridIndex,
        nameGap: 48,
        name: '$ of memory for a million',
      })),
      series: functionNames.flatMap((name, axisIndex) =>
        architectures.map((architecture) => ({
          type: 'line',
          name: architecture,
          symbol: 'circle',
          xAxisIndex: axisIndex,
          yAxisIndex: axisIndex,
          data: rows
            .filter((row) => row.name === name)
            .map((row) => ({
              value: [row.billed.median, dollarsPerMillion(row, architecture)],
              symbolSize: row.megabytes === chosenMegabytes(name) ? 12 : 4,
              // Those of both lines would lie on each other.
              label: {
                show: architecture === 'x86_64',
                formatter: `${row.megabytes}`,
                position: 'top',
                offset: [16, 4],
              },
            })),
        })),
      ),
    },
  );
}
