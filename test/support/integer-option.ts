import { UsageError } from '../../infra/command.ts';

/** @throws UsageError when the option's value is not an integer within these bounds. */
export function integerOption(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} must be an integer from ${least} to ${most}, not ${text}.`);
}
