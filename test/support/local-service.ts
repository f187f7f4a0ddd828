import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sharedCompileCache } from './run-command.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

export interface LocalService {
  baseAddress: string;
  apiKey: string;
  process: ChildProcess;
  /** All that it has printed so far, errors included. */
  output: () => string;
  /** Waits until what it has printed matches; fails with all that it printed when it does not. */
  printed: (pattern: RegExp) => Promise<void>;
  /** Sends the signal and waits for the end; gives the exit code, null when the signal ended it. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/**
 * Starts the local service as `npm start` does, in a process of its own.
 *
 * @param options as on the command line; a free port and memory for the data unless told otherwise.
 * @throws Error with all that it printed when it ends before it serves.
 */
export function startLocalService(...options: string[]): Promise<LocalService> {
  return startLocalServiceOf(projectRoot, ...options);
}

/** Starts that of another copy of the project. */
export async function startLocalServiceOf(project: string, ...options: string[]): Promise<LocalService> {
  const runner = join(project, 'infra/local/main.ts');
  const child = spawn(process.execPath, [runner, '--port', '0', '--data', 'memory', ...options], {
    env: { ...process.env, ...sharedCompileCache() },
  });
  let output = '';
  let awaited: (() => void)[] = [];
  // All that it printed has arrived then.
  const ended = once(child, 'close');
  const address = await new Promise<{ baseAddress: string; apiKey: string }>((resolve, reject) => {
    let isServing = false;
    function collect(chunk: Buffer): void {
      output += chunk.toString();
      for (const look of awaited) look();
      if (isServing) return; // what is printed can become long: it is searched for the address once
      const [, baseAddress, apiKey] = /base address {2}(\S+)\s+API key {7}(\S+)\s+curl/.exec(output) ?? [];
      if (!baseAddress || !apiKey) return;
      isServing = true;
      resolve({ baseAddress, apiKey });
    }
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('exit', (code) => reject(new Error(`The local service ended with ${code}:\n${output}`)));
  });
  return {
    ...address,
    process: child,
    output: () => output,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`The local service printed nothing like ${String(pattern)}:\n${output}`));
        }, WAIT_LIMIT_MILLISECONDS);
        function look(): void {
          if (!pattern.test(output)) return;
          clearTimeout(timer);
          awaited = awaited.filter((other) => other !== look);
          resolve();
        }
        awaited.push(look);
        look();
      }),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
