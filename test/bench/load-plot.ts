import type { Span } from './load-figures.ts';
import { draw, grids, xAxis, yAxis } from './plot.ts';

/** An SVG image of what clients waited for, above how much was answered, over time. */
export function plot(spans: Span[], title: string, subtitle: string): string {
  const time = { ...xAxis, name: 'seconds since the start', max: Math.ceil(spans.at(-1)?.end ?? 1) };
  // One point makes no line.
  const line = { type: 'line', showSymbol: spans.length === 1 } as const;
  return draw(title, subtitle, {
    grid: grids,
    xAxis: [
      { ...time, gridIndex: 0 },
      { ...time, gridIndex: 1 },
    ],
    yAxis: [
      { ...yAxis, gridIndex: 0, name: 'latency (ms)' },
      { ...yAxis, gridIndex: 1, name: 'requests per second' },
    ],
    series: [
      { ...line, name: 'p50', data: spans.map(({ end, p50 }) => [end, p50]) },
      { ...line, name: 'p99', data: spans.map(({ end, p99 }) => [end, p99]) },
      {
        ...line,
        name: 'requests per second',
        xAxisIndex: 1,
        yAxisIndex: 1,
        data: spans.map(({ end, requestsPerSecond }) => [end, requestsPerSecond]),
      },
    ],
  });
}
