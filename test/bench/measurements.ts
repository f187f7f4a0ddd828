/**
 * Measures each subject once per round, so that other load on the machine affects all subjects equally. Reverses the
 * order after each round, so that no subject always runs after the same subject. Prints `what` with the progress.
 *
 * @returns for each subject, the value of each round
 */
export async function measureInRounds<Subject, Value>(
  what: string,
  subjects: Subject[],
  rounds: number,
  measureOne: (subject: Subject, round: number) => Promise<Value>,
): Promise<Value[][]> {
  const measured = subjects.map((subject) => ({ subject, values: [] as Value[] }));
  const showDone = showProgress(what, rounds);
  for (let round = 0; round < rounds; round += 1) {
    for (const { subject, values } of round % 2 === 0 ? measured : measured.toReversed())
      values.push(await measureOne(subject, round));
    showDone(round + 1);
  }
  return measured.map(({ values }) => values);
}

export type Spread = ReturnType<typeof spreadOf>;

/** Returns the median and the quartiles of `values`. */
export function spreadOf(values: number[]) {
  const at = (share: number) => Number(quantile(values, share).toFixed(3));
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

/** Formats a positive figure with up to two decimals, such as `183`, `27.1` and `6.60`. */
export function formatFigure(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

/**
 * Formats a median and its quartiles, such as `6.86 (6.15–7.16)`, with up to two decimals, or `–` for undefined. Omits
 * quartiles that are equal.
 */
export function formatSpread(spread: Spread | undefined): string {
  if (!spread) return '–';
  const [median, p25, p75] = [spread.median, spread.p25, spread.p75].map(formatFigure);
  return spread.p25 === spread.p75 ? median! : `${median} (${p25}–${p75})`;
}

/** Returns a function that prints `what` and the progress to standard error for every 10% of `total` that is done. */
function showProgress(what: string, total: number): (done: number) => void {
  let shown = -1;
  return (done) => {
    const tenths = Math.floor((done / total) * 10);
    if (tenths > shown) console.error(`${what}: ${tenths * 10}%`);
    shown = tenths;
  };
}
