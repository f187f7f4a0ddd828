import type { Comparison, Figures, Simulated } from './growth-figures.ts';
import { SETTINGS } from './partition-limits.ts';
import { draw, grids, xAxis, yAxis } from './plot.ts';

/** An SVG image of medians by the number of pets, above those by the number of keys. */
export function plotGrowth({ circumstances, bySize, byPartitions }: Figures): string {
  const category = { ...xAxis, type: 'category' } as const;
  const milliseconds = { ...yAxis, name: 'median (ms)' };
  return draw('Latency on the local service', circumstances, {
    grid: grids,
    xAxis: [
      {
        ...category,
        gridIndex: 0,
        name: 'pets',
        data: bySize.stocks.map(({ pets }) => pets.toLocaleString('en')),
      },
      {
        ...category,
        gridIndex: 1,
        name: 'listPartitions',
        data: byPartitions.stocks.map((stock) => stock.partitions),
      },
    ],
    yAxis: [
      { ...milliseconds, gridIndex: 0 },
      { ...milliseconds, gridIndex: 1 },
    ],
    series: [...linesOf(bySize, 0), ...linesOf(byPartitions, 1)],
  });
}

function linesOf({ rows }: Comparison, axisIndex: number): object[] {
  return rows.map(({ request, times }) => ({
    type: 'line',
    name: request,
    xAxisIndex: axisIndex,
    yAxisIndex: axisIndex,
    data: times.map(({ median }) => median),
  }));
}

/** An SVG image of the creates that are answered 503, above those that are throttled at all, by how many there are. */
export function plotSimulation({ seconds, rates }: Simulated): string {
  const creates = { ...xAxis, name: 'creates a second' };
  const share = { ...yAxis, max: 100 };
  const lines = ['refused', 'throttled'] as const;
  return draw("DynamoDB's limit for one key, by listPartitions", `simulated, ${seconds} s of each rate`, {
    grid: grids,
    xAxis: grids.map((_, gridIndex) => ({ ...creates, gridIndex })),
    yAxis: [
      { ...share, gridIndex: 0, name: 'answered 503 (%)' },
      { ...share, gridIndex: 1, name: 'throttled (%)' },
    ],
    series: lines.flatMap((outcome, axisIndex) =>
      SETTINGS.map((partitions, setting) => ({
        type: 'line',
        name: `${partitions}`,
        xAxisIndex: axisIndex,
        yAxisIndex: axisIndex,
        data: rates.map(({ createsPerSecond, courses }) => {
          const course = courses[setting]!;
          return [createsPerSecond, (course[outcome] / course.creates) * 100];
        }),
      })),
    ),
  });
}
