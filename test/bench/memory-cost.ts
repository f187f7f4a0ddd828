import { standingParts } from '../../infra/operate/cost/parts.ts';
import { prices } from '../../infra/operate/cost/prices.ts';
import type { Row } from './bench-results.ts';

/** US dollars of a GB-second in us-east-1, first tier, and what the figure was compared with. */
export const memoryPrices = {
  arm64: { dollars: prices.duration.dollars[0]![1], seen: prices.duration.seen },
  x86_64: { dollars: 0.0000166667, seen: '2024, quoted by cloudchipr.com' },
};

export type Architecture = keyof typeof memoryPrices;
export const architectures = Object.keys(memoryPrices) as Architecture[];

/** US dollars of memory for a million warm requests. What Lambda charges for each request is the same for all. */
export function dollarsPerMillion(row: Row, architecture: Architecture): number {
  const gigabyteSeconds = (row.megabytes / 1_024) * (row.billed.median / 1_000);
  return gigabyteSeconds * memoryPrices[architecture].dollars * 1e6;
}

let memoryMegabytes: Record<string, number> | undefined;

/** The memory size of a function, by its module. */
export function chosenMegabytes(module: string): number | undefined {
  memoryMegabytes ??= standingParts('production').memoryMegabytes;
  return memoryMegabytes[idOf(module)];
}

/** `listPets` of `list-pets`. */
function idOf(module: string): string {
  return module.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
