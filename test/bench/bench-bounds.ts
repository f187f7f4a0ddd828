import type { Results, Row, Spread } from './bench-results.ts';

/** What the functions are held to, beside the yardsticks of the same run. It is told, and nothing fails by it. */
export interface Bound {
  what: string;
  atMost: number;
  /** Absent where it was not measured. */
  measured?: number;
}

/** A function, the yardstick that makes the same call, and the one that made such calls in init too. */
const pairs = [
  ['list-pets', 'bare list', 'bare list, primed'],
  ['create-pet', 'bare create', 'bare create, primed'],
] as const;

const COLD_MEMORY_SIZE = 256;

export function boundsOf(results: Results): Bound[] {
  const coldOf = (name: string) => rowOf(results, name, COLD_MEMORY_SIZE)?.cold;
  const ofPairs = (make: (pair: (typeof pairs)[number]) => Bound) => pairs.map(make);
  return [
    ...ofPairs(([ours, , primed]) =>
      bound(
        `\`${ours}\`, init and first answer at ${COLD_MEMORY_SIZE} MB ÷ ${primed}`,
        1.4,
        ratio(coldOf(ours)?.median, coldOf(primed)?.median),
      ),
    ),
    ...ofPairs(([ours, bare]) =>
      bound(
        `\`${ours}\`, init and first answer at ${COLD_MEMORY_SIZE} MB ÷ ${bare}`,
        0.5,
        ratio(coldOf(ours)?.median, coldOf(bare)?.median),
      ),
    ),
    ...ofPairs(([ours, bare]) =>
      bound(
        `\`${ours}\`, CPU of a warm request ÷ ${bare}`,
        1.15,
        ratio(meanCpu(results, ours), meanCpu(results, bare)),
      ),
    ),
    ...ofPairs(([ours, bare]) =>
      bound(
        `the same without what hello world takes: \`${ours}\` ÷ ${bare}`,
        1.15,
        ratio(
          difference(meanCpu(results, ours), meanCpu(results, 'hello world')),
          difference(meanCpu(results, bare), meanCpu(results, 'hello world')),
        ),
      ),
    ),
  ];
}

export function rowOf({ rows }: Results, name: string, megabytes: number): Row | undefined {
  return rows.find((row) => row.name === name && row.megabytes === megabytes);
}

/** Over the memory sizes: a small share of a core makes the work of all of them dearer alike. */
function meanCpu({ rows }: Results, name: string): number | undefined {
  const medians = rows
    .filter((row): row is Row & { cpu: Spread } => row.name === name && row.cpu !== undefined)
    .map(({ cpu }) => cpu.median);
  return medians.length > 0 ? medians.reduce((sum, median) => sum + median, 0) / medians.length : undefined;
}

function bound(what: string, atMost: number, measured: number | undefined): Bound {
  return { what, atMost, ...(measured !== undefined && { measured }) };
}

function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

function difference(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one - other;
}
