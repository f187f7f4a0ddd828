import { requireTool } from '../support/tools.ts';

/** What is used of https://echarts.apache.org/en/api.html#echarts. */
interface Echarts {
  init: (
    element: null,
    theme: null,
    options: { renderer: 'svg'; ssr: true; width: number; height: number },
  ) => { setOption: (option: object) => void; renderToSVGString: () => string; dispose: () => void };
}

/** An axis with its name beside its middle, from 0 on. */
export const axis = { type: 'value', nameLocation: 'middle', min: 0 } as const;
export const xAxis = { ...axis, nameGap: 28 } as const;
export const yAxis = { ...axis, nameGap: 56 } as const;

/** The places of two plots, one above the other. */
export const grids = [
  { left: 90, right: 40, top: 100, height: 270 },
  { left: 90, right: 40, top: 430, height: 150 },
];

/** An SVG image. */
export function draw(title: string, subtitle: string, option: object): string {
  const { init } = requireTool('echarts') as Echarts;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 1_000, height: 640 });
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: { text: title, subtext: subtitle, left: 'center' },
    legend: { top: 62 },
    ...option,
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** An image as it can be compared: the names of styles are numbered on from one to the next. */
export function withoutStyles(svg: string): string {
  return svg.replaceAll(/zr\d+-[a-z]+-\d+/g, '');
}
