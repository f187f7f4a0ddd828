import type { Spread } from './spread.ts';

/** `test/bench/results.json`. */
export interface Results {
  /** A list of the day, the machine, and what the functions ran under, in Markdown. */
  circumstances: string;
  rows: Row[];
}

/** What is measured, with the digits to keep after the decimal point. */
export const metrics = {
  /** Milliseconds of the first response, from the event. */
  first: 1,
  /** With init before it. */
  cold: 1,
  /** With the authorizer's cold start before that. Only of functions that API Gateway calls after the authorizer. */
  chain: 1,
  /** Milliseconds of warm requests: median and 99th percentile of each instance. */
  p50: 2,
  p99: 2,
  /** Milliseconds that Lambda charges for a warm request, rounded up for each: mean of each instance. */
  billed: 2,
  /** Microseconds of CPU time that a warm request takes in the function's process. Absent unless on Linux. */
  cpu: 0,
  /** Resident megabytes of 2^20 bytes, as Lambda counts them, after the last request. Absent unless on Linux. */
  resident: 1,
};

export type Metric = keyof typeof metrics;

/** With the value of each round: rows that were measured in the same round can be compared. */
type Figure = Spread & { rounds: number[] };

/** What was measured of a function, or a yardstick, of one memory size, in one series of rounds. */
export type Row = { name: string; megabytes: number; bundleBytes: number } & Partial<Record<Metric, Figure>>;

export function figureOf(
  { rows }: Results,
  metric: Metric,
  name: string,
  megabytes: number,
): Figure | undefined {
  return rows.find((row) => row.name === name && row.megabytes === megabytes && row[metric])?.[metric];
}

/** Functions have the names of their modules. */
export function titleOf(name: string): string {
  return name.replace(/^[a-z]+-[a-z]+|^authorizer/, '`$&`');
}
