import { type Results, rowOf } from './bench-results.ts';
import { type Spread, spreadOf } from './spread.ts';

/** A limit of a function's figures relative to those of a yardstick. It is reported; nothing fails by it. */
export interface Bound {
  what: string;
  atMost: number;
  /** The ratios of all rounds, in each of which both were measured. Absent if they were not. */
  measured?: Spread;
}

/** A function, and the yardstick that makes the same call. */
const pairs = [
  ['list-pets', 'bare list'],
  ['create-pet', 'bare create'],
] as const;

const COLD = 'init and first answer at 256 MB';
const CPU = 'CPU of a warm request';

export function boundsOf(results: Results): Bound[] {
  const cold = (name: string) => rowOf(results, name, 256)?.cold.rounds ?? [];
  /** Of all memory sizes, which the work of a request does not depend on. */
  const cpu = (name: string) =>
    results.rows.flatMap((row) => (row.name === name ? (row.cpu?.rounds ?? []) : []));
  const hello = cpu('hello world');
  const alone = (name: string) => cpu(name).map((value, round) => value - (hello[round] ?? NaN));
  const without = 'the same without what hello world takes: ';
  return [
    ...pairs.map(([ours, bare]) =>
      bound(`\`${ours}\`, ${COLD} ÷ ${bare}, primed`, 1.4, cold(ours), cold(`${bare}, primed`)),
    ),
    ...pairs.map(([ours, bare]) => bound(`\`${ours}\`, ${COLD} ÷ ${bare}`, 0.5, cold(ours), cold(bare))),
    ...pairs.map(([ours, bare]) => bound(`\`${ours}\`, ${CPU} ÷ ${bare}`, 1.15, cpu(ours), cpu(bare))),
    ...pairs.map(([ours, bare]) => bound(`${without}\`${ours}\` ÷ ${bare}`, 1.15, alone(ours), alone(bare))),
  ];
}

function bound(what: string, atMost: number, ours: number[], others: number[]): Bound {
  const ratios = ours.map((value, round) => value / (others[round] ?? NaN)).filter((ratio) => ratio > 0);
  return { what, atMost, ...(ratios.length > 0 && { measured: spreadOf(ratios, 3) }) };
}

/** Whether a bound is met. If it lies within the middle half of the ratios, the median decides. */
export function verdictOf({ measured, atMost }: Bound): string {
  if (!measured) return 'not measured';
  const { median, p25, p75 } = measured;
  if (p75 <= atMost) return 'yes';
  if (p25 > atMost) return '**no**';
  return median <= atMost ? 'by its median' : '**not by its median**';
}
