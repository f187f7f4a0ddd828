import { figureOf, type Results, titleOf } from './bench-results.ts';
import { type Spread, spreadOf } from './spread.ts';

/** An upper bound for the ratio of two rows. A missed bound is reported but does not fail the benchmark. */
export interface Bound {
  /** Metric and memory size, for example `cold, 256 MB`. */
  metric: string;
  /** Title of the row that is bounded. */
  row: string;
  /** Title of the row that it is compared with. */
  yardstick: string;
  maximum: number;
  /** Ratios of all rounds. Absent unless at least one round measured both rows. */
  ratios?: Spread;
}

const metricTitles = { cold: 'cold', cpu: 'CPU', p50: 'p50' };

type Limit = [
  metric: keyof typeof metricTitles,
  megabytes: number,
  row: string,
  yardstick: string,
  maximum: number,
];

const limits: Limit[] = [
  ['cold', 256, 'list-pets', 'bare list, primed', 0.7],
  ['cold', 256, 'create-pet', 'bare create, primed', 0.7],
  ['cold', 256, 'create-pet, idempotent', 'bare create, idempotent, primed', 0.7],
  ['cold', 256, 'list-pets', 'bare list', 0.5],
  ['cold', 256, 'create-pet', 'bare create', 0.5],
  ['cold', 256, 'create-pet, idempotent', 'bare create, idempotent', 0.5],
  ['cold', 512, 'list-pets', 'hello world', 3.1],
  ['cold', 512, 'create-pet', 'hello world', 3.1],
  ['cpu', 512, 'list-pets', 'bare list', 0.85],
  ['cpu', 512, 'create-pet', 'bare create', 0.95],
  ['cpu', 512, 'create-pet, idempotent', 'bare create, idempotent', 0.95],
  ['cpu', 512, 'list-pets, 16 partitions', 'list-pets', 2.5],
  ['p50', 512, 'list-pets, 16 partitions', 'list-pets', 2],
];

export function boundsOf(results: Results): Bound[] {
  return limits.map(([metric, megabytes, row, yardstick, maximum]) => {
    const roundsOf = (name: string) => figureOf(results, metric, name, megabytes)?.rounds ?? [];
    const divisors = roundsOf(yardstick);
    const ratios = roundsOf(row).map((value, round) => value / (divisors[round] ?? NaN));
    const compared = ratios.filter((ratio) => ratio > 0);
    return {
      metric: `${metricTitles[metric]}, ${megabytes} MB`,
      row: titleOf(row),
      yardstick: titleOf(yardstick),
      maximum,
      ...(compared.length > 0 && { ratios: spreadOf(compared, 3) }),
    };
  });
}

/** Returns whether a bound is met. If the bound lies between the quartiles of the ratios, the median decides. */
export function verdictOf({ ratios, maximum }: Bound): string {
  if (!ratios) return 'not measured';
  const { median, p25, p75 } = ratios;
  if (p75 <= maximum) return 'yes';
  if (p25 > maximum) return '**no**';
  return median <= maximum ? 'yes (median)' : '**no (median)**';
}
