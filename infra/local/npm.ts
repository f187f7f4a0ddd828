import { execFileSync } from 'node:child_process';

const PERIOD_MILLISECONDS = 500;

/**
 * Calls back once when the npm whose script this process is has ended. npm gives a signal to its shell at most: one that
 * ends by it leaves this process to another parent, one that was given none goes on waiting for this process.
 */
export function onceNpmHasEnded(callback: () => void): void {
  if (process.env['npm_lifecycle_event'] !== 'start') return;
  const parent = process.ppid;
  const npm = starterOfShell(parent) ?? parent;
  const watch = setInterval(() => {
    if (process.ppid === parent && isAlive(npm)) return;
    clearInterval(watch);
    callback();
  }, PERIOD_MILLISECONDS);
  watch.unref();
}

/** Who started the shell, if it is one that runs a command: some put the command in their own place. */
function starterOfShell(processId: number): number | undefined {
  try {
    const parameters = ['-o', 'ppid=', '-o', 'args=', '-p', processId.toString()];
    const line = execFileSync('ps', parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [, starter] = /^\s*(\d+)\s+\S+ -c /.exec(line) ?? [];
    return starter === undefined ? undefined : Number(starter);
  } catch {
    return undefined; // not every system has it, and none needs it to serve
  }
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
