import { randomInt } from 'node:crypto';
import { UsageError } from './command.ts';

/** @throws UsageError if the value is not an integer in this range. The value may be a key and is not quoted. */
export function integerOption(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} must be an integer from ${least} to ${most}.`);
}

const SEEDS = 2 ** 31;

/** Returns the seed that an option specifies. @default text - a random seed */
export function seedOption(name: string, text = randomInt(SEEDS).toString()): number {
  return integerOption(name, text, 0, SEEDS - 1);
}
