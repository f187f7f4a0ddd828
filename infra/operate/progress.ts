/** Returns a function that takes how much is done, and prints a line for each tenth to standard error. */
export function showProgress(what: string, total: number): (done: number) => void {
  let shown = -1;
  return (done) => {
    const tenths = Math.floor((done / total) * 10);
    if (tenths > shown) console.error(`${what}: ${tenths * 10} %`);
    shown = tenths;
  };
}
