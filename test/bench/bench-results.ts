import type { Spread } from './spread.ts';

/** Content of `test/bench/results.json`. */
export interface Results {
  /** A Markdown list with the date, the machine and the runtime. */
  runDetails: string;
  rows: Row[];
}

/** Metrics with the number of decimals to store. */
export const metrics = {
  /** Milliseconds from the first event to its response. */
  first: 1,
  /** Milliseconds of init and first response. */
  cold: 1,
  /** The sum of `cold` and the authorizer's `cold`. Only for operations at their deployed memory size. */
  chain: 1,
  /** Median and 99th percentile of an instance's warm requests, in milliseconds. */
  p50: 2,
  p99: 2,
  /** Mean billed duration of an instance's warm requests in milliseconds, each rounded up as Lambda does. */
  billed: 2,
  /** CPU time of the function's process per warm request, in microseconds. Linux only. */
  cpu: 0,
  /** Resident memory after the last request, in megabytes of 2^20 bytes as Lambda counts them. Linux only. */
  resident: 1,
};

export type Metric = keyof typeof metrics;

/** Includes the value of each round, because only values from the same round are compared. */
type Figure = Spread & { rounds: number[] };

/** Figures of a function or yardstick at one memory size, from one series of rounds. */
export type Row = { name: string; megabytes: number; bundleBytes: number } & Partial<Record<Metric, Figure>>;

export function figureOf(
  { rows }: Results,
  metric: Metric,
  name: string,
  megabytes: number,
): Figure | undefined {
  return rows.find((row) => row.name === name && row.megabytes === megabytes && row[metric])?.[metric];
}

/** Returns a row's name for Markdown, with the name of a function as code. */
export function titleOf(name: string): string {
  return name.replace(/^[a-z]+-[a-z]+|^authorizer/, '`$&`');
}
