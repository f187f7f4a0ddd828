import { figureOf, type Results } from './bench-results.ts';
import { type Spread, spreadOf } from './spread.ts';

/** Upper bound for the ratio of two rows. A missed bound is reported but does not fail the benchmark. */
type Bound = [
  metric: 'cold' | 'cpu' | 'p50',
  megabytes: number,
  row: string,
  yardstick: string,
  maximum: number,
];

export const bounds: Bound[] = [
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

/** Returns the ratios of the rounds that measured both rows, if any, and whether the ratios meet the bound. */
export function evaluate(results: Results, [metric, size, row, yardstick, maximum]: Bound) {
  const rounds = figureOf(results, metric, row, size)?.rounds ?? [];
  const divisors = figureOf(results, metric, yardstick, size)?.rounds ?? [];
  const values = rounds.map((value, round) => value / (divisors[round] ?? NaN)).filter((ratio) => ratio > 0);
  const ratios = values.length > 0 ? spreadOf(values, 3) : undefined;
  return { ratios, verdict: verdictOf(ratios, maximum) };
}

/** Returns a table cell that shows whether a bound is met. If the quartiles disagree, the median decides. */
function verdictOf(ratios: Spread | undefined, maximum: number): string {
  if (!ratios) return 'not measured';
  if (ratios.p75 <= maximum) return 'yes';
  if (ratios.p25 > maximum) return '**no**';
  return ratios.median <= maximum ? 'yes (median)' : '**no (median)**';
}
