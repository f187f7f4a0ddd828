/** Returns a function that prints a line to standard error for every 10 % of `total` that is done. */
export function showProgress(what: string, total: number): (done: number) => void {
  let shown = -1;
  return (done) => {
    const tenths = Math.floor((done / total) * 10);
    if (tenths > shown) console.error(`${what}: ${tenths * 10} %`);
    shown = tenths;
  };
}
