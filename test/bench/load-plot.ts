import { LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { Span } from './load-figures.ts';

use([LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

/** An SVG image of what clients waited for, above how much was answered, over time. */
export function plot(spans: Span[], title: string, subtitle: string): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 1_000, height: 640 });
  const axis = { nameLocation: 'middle', min: 0 } as const;
  const time = {
    ...axis,
    type: 'value',
    name: 'seconds since the start',
    nameGap: 28,
    max: Math.ceil(spans.at(-1)?.end ?? 1),
  } as const;
  const amount = { ...axis, type: 'value', nameGap: 56 } as const;
  // One point makes no line.
  const line = { type: 'line', showSymbol: spans.length === 1 } as const;
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: { text: title, subtext: subtitle, left: 'center' },
    legend: { top: 62 },
    grid: [
      { left: 90, right: 40, top: 100, height: 270 },
      { left: 90, right: 40, top: 430, height: 150 },
    ],
    xAxis: [
      { ...time, gridIndex: 0 },
      { ...time, gridIndex: 1 },
    ],
    yAxis: [
      { ...amount, gridIndex: 0, name: 'latency (ms)' },
      { ...amount, gridIndex: 1, name: 'requests per second' },
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
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
