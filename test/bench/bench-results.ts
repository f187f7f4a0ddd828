import { readFileSync } from 'node:fs';
import { type Spread, spreadOf } from './spread.ts';

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
  cold: Rounds;
  /** Milliseconds of warm requests: median and 99th percentile of each instance, over all of them. */
  p50: Spread;
  p99: Spread;
  /** Milliseconds that Lambda would charge, each request rounded up to a whole one: mean of each instance. */
  billed: Spread;
  /** Microseconds of processor time that a warm request takes in the function's process. Absent where nothing tells. */
  cpu?: Rounds;
  /** Megabytes of 2^20 bytes, as Lambda counts them, that an instance has after its last request. Absent where nothing tells. */
  resident?: Spread;
}

/** With the value of each round, by which rows can be compared that were measured at the same time. */
export interface Rounds extends Spread {
  rounds: number[];
}

export const resultsFile = new URL('results.json', import.meta.url);

export function readResults(): Results {
  return JSON.parse(readFileSync(resultsFile, 'utf8')) as Results;
}

export function roundsOf(values: number[], digits: number): Rounds {
  return { ...spreadOf(values, digits), rounds: values.map((value) => Number(value.toFixed(digits))) };
}
