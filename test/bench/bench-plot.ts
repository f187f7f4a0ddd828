import type { Results } from './bench-results.ts';
import type { LinePlot } from './plot.ts';

const PLOTTED = ['list-pets', 'create-pet', 'bare list', 'bare list, primed', 'hello world'];

/** How long the first client of an instance waits, by memory size. */
export function coldPlot(results: Results): LinePlot {
  const { date, machine, rows } = results;
  return {
    title: 'Init and first response by memory size',
    subtitle: `${date.slice(0, 10)}, ${machine.processor}, medians`,
    axes: ['memory (MB)', 'init and first response (ms)'],
    lines: Object.fromEntries(
      PLOTTED.map((name) => [
        name,
        rows.filter((row) => row.name === name).map(({ megabytes, cold }) => [`${megabytes}`, cold.median]),
      ]),
    ),
  };
}
