import { randomInt } from 'node:crypto';
import { UsageError } from './command.ts';

/** @throws UsageError if the option's value is not an integer within these bounds. It does not quote the value, which may be a key. */
export function integerOption(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} must be an integer from ${least} to ${most}.`);
}

const SEEDS = 2 ** 31;

/** The seed that an option specifies. @default - a random seed */
export function seedOption(name: string, text = randomInt(SEEDS).toString()): number {
  return integerOption(name, text, 0, SEEDS - 1);
}
