import { figureOf, type Results, titleOf } from './bench-results.ts';
import { type Spread, spreadOf } from './spread.ts';

/** A limit of a function's figures relative to those of another row. It is reported; nothing fails by it. */
export interface Bound {
  what: string;
  atMost: number;
  /** The ratios of all rounds, in each of which both were measured. Absent if they were not. */
  measured?: Spread;
}

const figures = {
  cold: 'init and first response',
  cpu: 'CPU of a warm request',
  p50: 'median of warm requests',
};

type Limit = [figure: keyof typeof figures, megabytes: number, ours: string, other: string, atMost: number];

const limits: Limit[] = [
  ['cold', 256, 'list-pets', 'bare list, primed', 0.7],
  ['cold', 256, 'create-pet', 'bare create, primed', 0.7],
  ['cold', 256, 'create-pet with a key', 'bare create with a key, primed', 0.7],
  ['cold', 256, 'list-pets', 'bare list', 0.5],
  ['cold', 256, 'create-pet', 'bare create', 0.5],
  ['cold', 256, 'create-pet with a key', 'bare create with a key', 0.5],
  ['cold', 512, 'list-pets', 'hello world', 3.1],
  ['cold', 512, 'create-pet', 'hello world', 3.1],
  ['cpu', 512, 'list-pets', 'bare list', 0.85],
  ['cpu', 512, 'create-pet', 'bare create', 0.95],
  ['cpu', 512, 'create-pet with a key', 'bare create with a key', 0.95],
  ['cpu', 512, 'list-pets over 16 keys', 'list-pets', 2.5],
  ['p50', 512, 'list-pets over 16 keys', 'list-pets', 2],
];

export function boundsOf(results: Results): Bound[] {
  return limits.map(([figure, megabytes, ours, other, atMost]) => {
    const roundsOf = (name: string) => figureOf(results, figure, name, megabytes)?.rounds ?? [];
    const others = roundsOf(other);
    const ratios = roundsOf(ours).map((value, round) => value / (others[round] ?? NaN));
    const compared = ratios.filter((ratio) => ratio > 0);
    return {
      what: `${figures[figure]} at ${megabytes} MB: ${titleOf(ours)} ÷ ${titleOf(other)}`,
      atMost,
      ...(compared.length > 0 && { measured: spreadOf(compared, 3) }),
    };
  });
}

/** Whether a bound is met. If it lies within the middle half of the ratios, the median decides. */
export function verdictOf({ measured, atMost }: Bound): string {
  if (!measured) return 'not measured';
  const { median, p25, p75 } = measured;
  if (p75 <= atMost) return 'yes';
  if (p25 > atMost) return '**no**';
  return median <= atMost ? 'by its median' : '**not by its median**';
}
