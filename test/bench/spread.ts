/** Of figures that vary: the middle one, and the bounds of the middle half. */
export interface Spread {
  median: number;
  /** A quarter of all is below this, and as much above the other. */
  p25: number;
  p75: number;
}

/** Of values in any order, rounded to so many digits after the point. */
export function spreadOf(values: number[], digits: number): Spread {
  const at = (share: number) => Number(quantile(values, share).toFixed(digits));
  return { median: at(0.5), p25: at(0.25), p75: at(0.75) };
}

/** The value below which this share of all is, between two of them in proportion. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below + (above - below) * (place % 1);
}
