import type { Results, Rounds, Row } from './bench-results.ts';
import { type Spread, spreadOf } from './spread.ts';

/** What the functions are held to, beside the yardsticks of the same run. It is told, and nothing fails by it. */
export interface Bound {
  what: string;
  atMost: number;
  /** Over the rounds, in each of which both were measured within seconds of each other. Absent where they were not. */
  measured?: Spread;
}

/** A function, the yardstick that makes the same call, and the one that made such calls in init too. */
const pairs = [
  ['list-pets', 'bare list', 'bare list, primed'],
  ['create-pet', 'bare create', 'bare create, primed'],
] as const;

const COLD_MEMORY_SIZE = 256;

export function boundsOf(results: Results): Bound[] {
  const cold = (name: string) => rowOf(results, name, COLD_MEMORY_SIZE)?.cold.rounds ?? [];
  const cpu = (name: string) => cpuRounds(results, name);
  const hello = cpu('hello world');
  const alone = (name: string) => cpu(name).map((value, round) => value - (hello[round] ?? NaN));
  return [
    ...pairs.map(([ours, , primed]) =>
      bound(
        `\`${ours}\`, init and first answer at ${COLD_MEMORY_SIZE} MB ÷ ${primed}`,
        1.4,
        cold(ours),
        cold(primed),
      ),
    ),
    ...pairs.map(([ours, bare]) =>
      bound(
        `\`${ours}\`, init and first answer at ${COLD_MEMORY_SIZE} MB ÷ ${bare}`,
        0.5,
        cold(ours),
        cold(bare),
      ),
    ),
    ...pairs.map(([ours, bare]) =>
      bound(`\`${ours}\`, CPU of a warm request ÷ ${bare}`, 1.15, cpu(ours), cpu(bare)),
    ),
    ...pairs.map(([ours, bare]) =>
      bound(`the same without what hello world takes: \`${ours}\` ÷ ${bare}`, 1.15, alone(ours), alone(bare)),
    ),
  ];
}

export function rowOf({ rows }: Results, name: string, megabytes: number): Row | undefined {
  return rows.find((row) => row.name === name && row.megabytes === megabytes);
}

/** Of all memory sizes, which the work of a request does not depend on. */
function cpuRounds({ rows }: Results, name: string): number[] {
  return rows
    .filter((row): row is Row & { cpu: Rounds } => row.name === name && row.cpu !== undefined)
    .flatMap(({ cpu }) => cpu.rounds);
}

function bound(what: string, atMost: number, ours: number[], others: number[]): Bound {
  const ratios = ours.map((value, round) => value / (others[round] ?? NaN)).filter((ratio) => ratio > 0);
  return { what, atMost, ...(ratios.length > 0 && { measured: spreadOf(ratios, 3) }) };
}
