/** Returns a function that receives the amount done, and prints a line to standard error for each 10 %. */
export function showProgress(what: string, total: number): (done: number) => void {
  let shown = -1;
  return (done) => {
    const tenths = Math.floor((done / total) * 10);
    if (tenths > shown) console.error(`${what}: ${tenths * 10} %`);
    shown = tenths;
  };
}
