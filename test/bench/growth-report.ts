import { markdownTable } from '../../infra/operate/markdown-table.ts';
import type { Stock } from './growth-pets.ts';
import { showSpread, type Spread } from './spread.ts';

/** `test/bench/growth.json`. */
export interface Results {
  /** Day, machine, Node. */
  circumstances: string;
  /** Of each kind to each store. */
  requests: number;
  bySize: Comparison;
  byPartitions: Comparison;
}

/** What was measured of several stores. */
export interface Comparison {
  stocks: Stock[];
  /** Milliseconds for each store. */
  rows: { request: string; times: Spread[] }[];
}

/** The largest ratio of the slowest to the fastest store that is called flat. */
const FLAT = 1.2;

/** The time of the slowest store relative to that of the fastest. */
export function ratioOf(times: Spread[]): number {
  const medians = times.map(({ median }) => median);
  return Math.max(...medians) / Math.min(...medians);
}

/** The generated part of `docs/scaling.md` about latencies. */
export function latencyTables({ circumstances, requests, bySize, byPartitions }: Results): string {
  return [
    `${circumstances}; ${requests} requests of each kind to each store.\n`,
    markdownTable(
      [
        'Median in ms (half of all)',
        ...bySize.stocks.map(({ pets }) => `${pets.toLocaleString('en')} pets`),
        'slowest ÷ quickest',
        `at most ${FLAT}`,
      ],
      bySize.rows.map((row) => [...cellsOf(row), ratioOf(row.times) > FLAT ? '**no**' : 'yes']),
    ),
    markdownTable(
      [
        `Median in ms (half of all), ${byPartitions.stocks[0]!.pets.toLocaleString('en')} pets`,
        ...byPartitions.stocks.map(({ partitions }) => `\`listPartitions: ${partitions}\``),
        'slowest ÷ quickest',
      ],
      byPartitions.rows.map(cellsOf),
    ),
  ].join('\n');
}

function cellsOf({ request, times }: Comparison['rows'][number]): string[] {
  return [request, ...times.map(showSpread), ratioOf(times).toFixed(2)];
}
