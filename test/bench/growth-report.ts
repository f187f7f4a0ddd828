import { markdownTable } from '../../infra/operate/markdown-table.ts';
import type { Stock } from './growth-pets.ts';
import { formatSpread, type Spread } from './spread.ts';

/** Content of `test/bench/growth.json`. */
export interface Results {
  /** Date, machine and version of Node. */
  runDetails: string;
  /** Number of requests of each kind to each store. */
  requests: number;
  bySize: Comparison;
  byPartitions: Comparison;
}

export interface Comparison {
  stocks: Stock[];
  /** A row for each kind of request, with the milliseconds for each store. */
  rows: { request: string; times: Spread[] }[];
}

/** Maximum ratio of the slowest to the fastest store at which a latency counts as independent of size. */
const FLAT = 1.2;

/** Returns the ratio of the slowest store's median to the fastest store's. */
export function ratioOf(times: Spread[]): number {
  const medians = times.map(({ median }) => median);
  return Math.max(...medians) / Math.min(...medians);
}

/** Returns the generated part of `docs/scaling.md` about latencies. */
export function latencyTables({ runDetails, requests, bySize, byPartitions }: Results): string {
  return [
    `Measured on ${runDetails}, with ${requests} requests of each kind to each store.\n`,
    markdownTable(
      [
        'Median, ms (quartiles)',
        ...bySize.stocks.map(({ pets }) => `${pets.toLocaleString('en')} pets`),
        'slowest ÷ fastest',
        `up to ${FLAT}`,
      ],
      bySize.rows.map((row) => [...cellsOf(row), ratioOf(row.times) > FLAT ? '**no**' : 'yes']),
    ),
    markdownTable(
      [
        `Median, ms (${byPartitions.stocks[0]!.pets.toLocaleString('en')} pets)`,
        ...byPartitions.stocks.map(({ partitions }) => `\`listPartitions\` ${partitions}`),
        'slowest ÷ fastest',
      ],
      byPartitions.rows.map(cellsOf),
    ),
  ].join('\n');
}

function cellsOf({ request, times }: Comparison['rows'][number]): string[] {
  return [request, ...times.map(formatSpread), ratioOf(times).toFixed(2)];
}
