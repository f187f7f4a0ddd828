import type { Spread } from './spread.ts';

/** Content of `test/bench/results.json`. */
export interface Results {
  /** A Markdown list with the date, the machine and the runtime. */
  runDetails: string;
  rows: Row[];
}

/** Number of stored decimals for each metric. */
export const metrics = {
  /** Time from the first event to its response, in milliseconds. */
  first: 1,
  /** Time of init and the first response, in milliseconds. */
  cold: 1,
  /** Sum of `cold` and the authorizer's `cold`. Only operations at their deployed memory size have this metric. */
  chain: 1,
  /** Median latency of an instance's warm requests, in milliseconds. `p99` is the 99th percentile. */
  p50: 2,
  p99: 2,
  /** Mean billed duration of an instance's warm requests. Each duration is rounded up to a full millisecond. */
  billed: 2,
  /** CPU time per warm request, in microseconds. Measured only on Linux. */
  cpu: 0,
  /** Resident memory after the last request, in megabytes of 2^20 bytes. Measured only on Linux. */
  resident: 1,
};

export type Metric = keyof typeof metrics;

/** A metric's spread and its value in each round. Ratios compare only values from the same round. */
type Figure = Spread & { rounds: number[] };

/** Measurements of a function or yardstick at one memory size. */
export type Row = { name: string; megabytes: number; bundleBytes: number } & Partial<Record<Metric, Figure>>;

export function figureOf(
  { rows }: Results,
  metric: Metric,
  name: string,
  megabytes: number,
): Figure | undefined {
  return rows.find((row) => row.name === name && row.megabytes === megabytes && row[metric])?.[metric];
}

/** Returns a row's name in Markdown, with the function's name formatted as code. */
export function titleOf(name: string): string {
  return name.replace(/^[a-z]+-[a-z]+|^authorizer/, '`$&`');
}
