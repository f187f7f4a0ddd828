import { readFileSync } from 'node:fs';
import { markdownTable } from '../../infra/operate/markdown-table.ts';
import type { Stock } from './growth-pets.ts';
import type { Row } from './growth-requests.ts';
import { limitTables, SETTINGS } from './partition-limits.ts';
import { type Course, simulateCreates } from './partition-simulation.ts';
import type { LinePlot } from './plot.ts';
import type { Spread } from './spread.ts';

/** What was seen of several stores. */
export interface Comparison {
  stocks: Stock[];
  rows: Row[];
}

/** `test/bench/growth.json`. */
export interface Figures {
  /** Machine, Node, day. */
  circumstances: string;
  /** Of each kind to each store. */
  requests: number;
  bySize: Comparison;
  byPartitions: Comparison;
}

export const figuresFile = new URL('growth.json', import.meta.url);

export function readFigures(): Figures {
  return JSON.parse(readFileSync(figuresFile, 'utf8')) as Figures;
}

/** Flat is what grows by no more. */
const FLAT = 1.2;

/** How many times as long the slowest of the stores takes as the quickest. */
export function ratioOf(times: Spread[]): number {
  const medians = times.map(({ median }) => median);
  return Math.max(...medians) / Math.min(...medians);
}

/** The requests of which one store takes more than a fifth longer than another. */
export function steepRows({ rows }: Comparison): Row[] {
  return rows.filter(({ times }) => ratioOf(times) > FLAT);
}

/** The measured part of `docs/scaling.md`. */
export function measuredTables({ circumstances, requests, bySize, byPartitions }: Figures): string {
  return [
    `${circumstances}; ${thousands(requests)} requests of each kind to each store.\n`,
    comparisonTable(
      bySize,
      ['Median in ms (half of all)', ...bySize.stocks.map(({ pets }) => `${thousands(pets)} pets`)],
      `at most ${FLAT}`,
    ),
    comparisonTable(byPartitions, [
      `Median in ms (half of all), ${thousands(byPartitions.stocks[0]!.pets)} pets`,
      ...byPartitions.stocks.map(({ partitions }) => `\`listPartitions: ${partitions}\``),
    ]),
  ].join('\n');
}

function comparisonTable({ rows }: Comparison, head: string[], verdict?: string): string {
  return markdownTable(
    [...head, 'slowest ÷ quickest', ...(verdict ? [verdict] : [])],
    rows.map(({ request, times }) => [
      request,
      ...times.map(({ median, p25, p75 }) => `${median.toFixed(2)} (${p25.toFixed(2)}–${p75.toFixed(2)})`),
      ratioOf(times).toFixed(2),
      ...(verdict ? [ratioOf(times) > FLAT ? '**no**' : 'yes'] : []),
    ]),
  );
}

const RATES = [500, 1_000, 2_000, 3_000, 4_000, 6_000, 10_000, 15_000, 20_000];
const SECONDS = 10;

/** The outcomes of creates at each of `RATES`, for each of `SETTINGS`. */
export function simulate(): Course[][] {
  return RATES.map((createsPerSecond) =>
    SETTINGS.map((partitions) =>
      simulateCreates({ partitions, createsPerSecond, seconds: SECONDS, seed: 1 }),
    ),
  );
}

/** The computed part of `docs/scaling.md`. */
export function computedTables(simulated: Course[][]): string {
  return [
    limitTables(),
    `Simulated, ${SECONDS} s of each rate:\n`,
    markdownTable(
      [
        'Throttled once or more, and answered 503, by `listPartitions`',
        ...SETTINGS.map((partitions) => `${partitions}`),
      ],
      simulated.map((courses, index) => [
        `${thousands(RATES[index]!)} creates a second`,
        ...courses.map(({ creates, throttled, refused }) =>
          throttled === 0 ? 'none' : `${percent(throttled / creates)}, ${percent(refused / creates)}`,
        ),
      ]),
    ),
  ].join('\n');
}

/** The share of creates that are answered 503. */
export function refusalPlot(simulated: Course[][]): LinePlot {
  return {
    title: "DynamoDB's limit for one key of an index",
    subtitle: `simulated, ${SECONDS} s of each rate`,
    axes: ['creates a second', 'answered 503 (%)'],
    lines: Object.fromEntries(
      SETTINGS.map((partitions, setting) => [
        `listPartitions: ${partitions}`,
        simulated.map((courses, index) => {
          const { creates, refused } = courses[setting]!;
          return [RATES[index]!, (refused / creates) * 100];
        }),
      ]),
    ),
  };
}

function percent(share: number): string {
  if (share === 0) return '0 %';
  if (share < 0.001) return '< 0.1 %';
  return `${(share * 100).toFixed(1)} %`;
}

function thousands(amount: number): string {
  return amount.toLocaleString('en');
}
