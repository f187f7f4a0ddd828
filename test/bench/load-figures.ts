import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { type Kind, kinds, type Outcomes } from './load-clients.ts';

/** Latencies are kept in microseconds, to three digits. */
const MICROSECONDS = 1_000;
const SHORTEST_SPAN_MILLISECONDS = 500;
const PERCENTILES = [50, 90, 99, 99.9];

/** What came of some requests. */
interface Tally {
  latencies: RecordableHistogram;
  /** How many answers had each status that is not 2xx. */
  refusals: Map<number, number>;
  unanswered: number;
}

/** What was answered in a span of time. */
export interface Span {
  /** When it ended, in seconds since the start. */
  end: number;
  requestsPerSecond: number;
  /** Latencies in milliseconds; null when nothing was answered. */
  p50: number | null;
  p99: number | null;
}

export interface Figures extends Outcomes {
  spans: Span[];
  /** Ends a span of time, and begins the next one. */
  endSpan: () => void;
  /** How many requests were not answered at all. */
  unansweredInAll: () => number;
  /** How many requests were not answered by 2xx, or not at all. */
  failures: () => number;
  /** Answers a second, when all of it took so many seconds. */
  requestsPerSecond: (seconds: number) => number;
  /** A line for each kind of request, and one for all. */
  table: () => string;
}

/** Gathers what comes of requests from now on. */
export function gatherFigures(): Figures {
  const tallies = new Map(kinds.map((kind) => [kind, newTally()]));
  const all = newTally();
  const spans: Span[] = [];
  const start = performance.now();
  let spanStart = start;
  const span = newTally().latencies;

  function talliesOf(kind: Kind): Tally[] {
    return [tallies.get(kind)!, all];
  }

  return {
    spans,
    answered(kind, milliseconds, status) {
      const microseconds = Math.max(1, Math.round(milliseconds * MICROSECONDS));
      span.record(microseconds);
      for (const { latencies, refusals } of talliesOf(kind)) {
        latencies.record(microseconds);
        if (status < 200 || status > 299) refusals.set(status, (refusals.get(status) ?? 0) + 1);
      }
    },
    unanswered(kind) {
      for (const tally of talliesOf(kind)) tally.unanswered += 1;
    },
    endSpan() {
      const now = performance.now();
      // A rest at the end, too short to be compared.
      if (now - spanStart < SHORTEST_SPAN_MILLISECONDS) return;
      const { count } = span;
      spans.push({
        end: (now - start) / 1_000,
        requestsPerSecond: count / ((now - spanStart) / 1_000),
        p50: count > 0 ? inMilliseconds(span.percentile(50)) : null,
        p99: count > 0 ? inMilliseconds(span.percentile(99)) : null,
      });
      span.reset();
      spanStart = now;
    },
    unansweredInAll: () => all.unanswered,
    requestsPerSecond: (seconds) => Math.round(all.latencies.count / seconds),
    failures: () => all.unanswered + sum(all.refusals.values()),
    table: () => tableOf([...tallies, ['all', all]]),
  };
}

function newTally(): Tally {
  return { latencies: createHistogram({ figures: 3 }), refusals: new Map(), unanswered: 0 };
}

function tableOf(tallies: [name: string, tally: Tally][]): string {
  const head = [
    '',
    'requests',
    ...PERCENTILES.map((percentile) => `p${percentile} ms`),
    'max ms',
    'not 2xx',
    'no answer',
  ];
  const rows = tallies.map(([name, { latencies, refusals, unanswered }]) => [
    name,
    latencies.count + unanswered,
    ...[...PERCENTILES.map((percentile) => latencies.percentile(percentile)), latencies.max].map((value) =>
      latencies.count > 0 ? inMilliseconds(value).toFixed(1) : '-',
    ),
    [...refusals].map(([status, count]) => `${count} x ${status}`).join(', ') || 0,
    unanswered,
  ]);
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map(([name, ...figures]) =>
      [
        name!.padEnd(widths[0]!),
        ...figures.map((figure, column) => figure.padStart(widths[column + 1]!)),
      ].join('  '),
    )
    .join('\n');
}

function inMilliseconds(microseconds: number): number {
  return microseconds / MICROSECONDS;
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((one, other) => one + other, 0);
}
