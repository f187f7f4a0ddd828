/** Returns a function that shows how much is done on standard error: a bar on a terminal, a line per tenth elsewhere. */
export function showProgress(what: string, total: number): (done: number) => void {
  const { stderr } = process;
  let shown = -1;
  return (done) => {
    const percent = Math.floor((done / total) * 100);
    const step = stderr.isTTY ? percent : percent - (percent % 10);
    if (step === shown) return;
    shown = step;
    const bar = '█'.repeat(step * 0.4).padEnd(40, '░');
    const end = step === 100 ? '\n' : '';
    stderr.write(stderr.isTTY ? `\r${what} ${bar} ${step} %${end}` : `${what}: ${step} %\n`);
  };
}
