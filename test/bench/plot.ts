import { requireTool } from '../support/tools.ts';

/** The part of https://echarts.apache.org/en/api.html#echarts that is used. */
interface Echarts {
  init: (
    element: null,
    theme: null,
    options: { renderer: 'svg'; ssr: true; width: number; height: number },
  ) => { setOption: (option: object) => void; renderToSVGString: () => string; dispose: () => void };
}

export interface LinePlot {
  title: string;
  subtitle: string;
  /** Names of the axes, with units. */
  axes: [x: string, y: string];
  /** Points by the name of their line. An x that is a text is a category. */
  lines: Record<string, [x: number | string, y: number][]>;
}

/** Renders an SVG image. */
export function linePlot({ title, subtitle, axes: [x, y], lines }: LinePlot): string {
  const { init } = requireTool('echarts') as Echarts;
  const hasCategories = typeof Object.values(lines)[0]?.[0]?.[0] === 'string';
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 1_000, height: 480 });
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: { text: title, subtext: subtitle, left: 'center' },
    legend: { top: 62, itemGap: 30 },
    grid: { left: 90, right: 40, top: 100, bottom: 60 },
    xAxis: { type: hasCategories ? 'category' : 'value', name: x, nameLocation: 'middle', nameGap: 28 },
    yAxis: { type: 'value', name: y, nameLocation: 'middle', nameGap: 56, min: 0 },
    series: Object.entries(lines).map(([name, data]) => ({ type: 'line', name, data })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** Removes the names of styles from an image, because echarts numbers them differently each time. */
export function withoutStyleNames(svg: string): string {
  return svg.replaceAll(/zr\d+-[a-z]+-\d+/g, '');
}
