import { readFileSync } from 'node:fs';

/** `test/bench/results.json`. */
export interface Results {
  /** ISO 8601 in UTC. */
  date: string;
  machine: { processor: string; cores: number; memoryGigabytes: number; system: string };
  node: string;
  /** What ran the functions' code, with its version; a stand-in has none. */
  runtime: string;
  /** What held the functions to the share of a core that Lambda gives them. */
  quota?: { kind: string; periodMilliseconds: number };
  /** The memory sizes that were not measured, and why. */
  leftOut?: { megabytes: number[]; reason: string };
  counts: Counts;
  rows: Row[];
}

/** Of each row. */
export interface Counts {
  coldStarts: number;
  /** Each of them serves so many requests, after others that are not counted. */
  warmInstances: number;
  warmRequests: number;
}

/** What was measured of a function, or a yardstick, of one memory size. */
export interface Row {
  name: string;
  megabytes: number;
  bundleBytes: number;
  /** Milliseconds until the function asked for its first event, over all cold starts. */
  init: Spread;
  /** Milliseconds that the first answer took after that. */
  first: Spread;
  /** Their sum. */
  cold: Spread;
  /** Milliseconds of warm requests: median and 99th percentile of each instance, over all of them. */
  p50: Spread;
  p99: Spread;
  /** Milliseconds that Lambda would charge, each request rounded up to a whole one: mean of each instance. */
  billed: Spread;
  /** Microseconds of processor time that a warm request takes in the function's process. Absent where nothing tells. */
  cpu?: Spread;
  /** Megabytes that an instance has after its last request. Absent where nothing tells. */
  resident?: Spread;
}

export interface Spread {
  median: number;
  /** A quarter of all is below this, and as much above the other. */
  p25: number;
  p75: number;
}

export const resultsFile = new URL('results.json', import.meta.url);

export function readResults(): Results {
  return JSON.parse(readFileSync(resultsFile, 'utf8')) as Results;
}

/** Of values in any order, rounded to so many digits after the point. */
export function spreadOf(values: number[], digits: number): Spread {
  const at = (share: number) => Number(quantile(values, share).toFixed(digits));
  return { median: at(0.5), p25: at(0.25), p75: at(0.75) };
}

/** The value below which this share of all is, between two of them in proportion. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below + (above - below) * (place % 1);
}
