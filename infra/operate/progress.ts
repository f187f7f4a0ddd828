const WIDTH = 40;

/**
 * Shows on standard error how much of long work is done: a bar on a terminal, a line at each tenth elsewhere.
 *
 * @returns takes how much is done so far.
 */
export function showProgress(what: string, total: number): (done: number) => void {
  const { stderr } = process;
  let shown = -1;
  return (done) => {
    const steps = stderr.isTTY ? 100 : 10;
    const step = Math.floor((done / total) * steps);
    if (step === shown) return;
    shown = step;
    const percent = `${Math.round((step / steps) * 100)} %`;
    if (!stderr.isTTY) {
      stderr.write(`${what}: ${percent}\n`);
      return;
    }
    const bar = '█'.repeat(Math.round((step / steps) * WIDTH)).padEnd(WIDTH, '░');
    stderr.write(`\r${what} ${bar} ${percent.padStart(5)}${step === steps ? '\n' : ''}`);
  };
}
