/** The median of figures that vary, and their quartiles. */
export interface Spread {
  median: number;
  p25: number;
  p75: number;
}

/** @param digits after the decimal point */
export function spreadOf(values: number[], digits: number): Spread {
  const at = (share: number) => Number(quantile(values, share).toFixed(digits));
  return { median: at(0.5), p25: at(0.25), p75: at(0.75) };
}

/** The value that this share of all values is below, interpolated. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below + (above - below) * (place % 1);
}

/** The median and the range of the middle half, with at least three significant digits: `6.86 (6.15–7.16)`. */
export function showSpread(spread: Spread | undefined): string {
  if (!spread) return '–';
  const { median, p25, p75 } = spread;
  return p25 === p75 ? show(median) : `${show(median)} (${show(p25)}–${show(p75)})`;
}

function show(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}
