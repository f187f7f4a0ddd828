import type { Spread } from './spread.ts';

/** `test/bench/results.json`. */
export interface Results {
  /** A list of the day, the machine, and what the functions ran under, in Markdown. */
  circumstances: string;
  rows: Row[];
}

/** Of each row. */
export interface Counts {
  coldStarts: number;
  warmInstances: number;
  /** Of each warm instance, after others that are not counted. */
  warmRequests: number;
}

/** What is measured of each row, with the digits to keep after the decimal point. */
export const metrics = {
  /** Milliseconds until the function asks for its first event. */
  init: 1,
  /** Milliseconds of the first response after that. */
  first: 1,
  /** The sum of both. */
  cold: 1,
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
type Rounds = Spread & { rounds: number[] };

/** What was measured of a function, or a yardstick, of one memory size. */
export type Row = { name: string; megabytes: number; bundleBytes: number } & Record<
  'init' | 'first' | 'p50' | 'p99' | 'billed',
  Spread
> & { cold: Rounds; cpu?: Rounds; resident?: Spread };

export function rowOf({ rows }: Results, name: string, megabytes: number): Row | undefined {
  return rows.find((row) => row.name === name && row.megabytes === megabytes);
}
