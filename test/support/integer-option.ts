import { randomInt } from 'node:crypto';
import { UsageError } from '../../infra/operate/command.ts';

/** @throws UsageError when the option's value is not an integer within these bounds. */
export function integerOption(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} must be an integer from ${least} to ${most}, not ${text}.`);
}

const SEEDS = 2 ** 31;

/** The seed in this environment variable, or any without. */
export function seedFor(variable: string): number {
  return seedOption(variable, process.env[variable]);
}

/** The seed that an option gives, or any without. */
export function seedOption(name: string, text = randomInt(SEEDS).toString()): number {
  return integerOption(name, text, 0, SEEDS - 1);
}
