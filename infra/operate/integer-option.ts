import { randomInt } from 'node:crypto';
import { UsageError } from './command.ts';

/** @throws UsageError if `text` is not an integer in the range. The message omits `text`, because it can be an API key. */
export function integerOption(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} must be an integer from ${least} to ${most}.`);
}

const SEEDS = 2 ** 31;

/** Returns the option's value as a seed, or a random seed if the option is not set. */
export function seedOption(name: string, text = randomInt(SEEDS).toString()): number {
  return integerOption(name, text, 0, SEEDS - 1);
}
