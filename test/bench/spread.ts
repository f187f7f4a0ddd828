/** Median and quartiles of measurements. */
export interface Spread {
  median: number;
  p25: number;
  p75: number;
}

/** @param digits number of decimals */
export function spreadOf(values: number[], digits: number): Spread {
  const at = (share: number) => Number(quantile(values, share).toFixed(digits));
  return { median: at(0.5), p25: at(0.25), p75: at(0.75) };
}

/** Returns a quantile with linear interpolation. @param share 0 to 1, such as 0.5 for the median */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  return below + (above - below) * (position % 1);
}

/** Formats a median and its quartiles with at least three significant digits: `6.86 (6.15–7.16)`. */
export function formatSpread(spread: Spread | undefined): string {
  if (!spread) return '–';
  const { median, p25, p75 } = spread;
  return p25 === p75 ? format(median) : `${format(median)} (${format(p25)}–${format(p75)})`;
}

function format(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}
