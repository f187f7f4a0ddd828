import { markdownTable } from '../../infra/documents/markdown.ts';
import type { Contents } from './growth-pets.ts';
import { formatSpread, type Spread } from './spread.ts';

/** Content of `test/bench/growth.json`. */
export interface Results {
  /** Date, machine and Node version. */
  runDetails: string;
  /** Number of measured requests per kind and store. */
  requests: number;
  bySize: Comparison;
  byPartitions: Comparison;
}

export interface Comparison {
  contents: Contents[];
  /** One row for each kind of request. `times` contains the milliseconds for each store. */
  rows: { request: string; times: Spread[] }[];
}

/** Maximum accepted ratio of the slowest store's median to the fastest store's median. */
const FLAT = 1.2;

/** Returns the ratio of the slowest store's median to the fastest store's median. */
export function ratioOf(times: Spread[]): number {
  const medians = times.map(({ median }) => median);
  return Math.max(...medians) / Math.min(...medians);
}

/** Returns the latency tables for `docs/scaling.md`. */
export function latencyTables({ runDetails, requests, bySize, byPartitions }: Results): string {
  return [
    `Measured on ${runDetails}. The benchmark sent ${requests} requests of each kind to each store.\n`,
    markdownTable(
      [
        'Median, ms (quartiles)',
        ...bySize.contents.map(({ pets }) => `${pets.toLocaleString('en')} pets`),
        'slowest ÷ fastest',
        `up to ${FLAT}`,
      ],
      bySize.rows.map((row) => [...cellsOf(row), ratioOf(row.times) > FLAT ? '**no**' : 'yes']),
    ),
    markdownTable(
      [
        `Median, ms (${byPartitions.contents[0]!.pets.toLocaleString('en')} pets)`,
        ...byPartitions.contents.map(({ partitions }) => `\`listPartitions\` ${partitions}`),
        'slowest ÷ fastest',
      ],
      byPartitions.rows.map(cellsOf),
    ),
  ].join('\n');
}

function cellsOf({ request, times }: Comparison['rows'][number]): string[] {
  return [request, ...times.map(formatSpread), ratioOf(times).toFixed(2)];
}
