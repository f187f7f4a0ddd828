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
  printed: (pattern: RegExp) => Promise<unknown>;
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
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      for (const look of awaited) look();
    });
  }

  function printed(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(fail, WAIT_LIMIT_MILLISECONDS, `printed nothing like ${String(pattern)}`);
      function fail(how: string): void {
        reject(new Error(`The local service ${how}:\n${output}`));
      }
      function look(): void {
        const found = pattern.exec(output);
        if (!found) return;
        clearTimeout(timer);
        awaited = awaited.filter((other) => other !== look);
        resolve(found);
      }
      async function failAtItsEnd(): Promise<void> {
        const [code] = await ended;
        clearTimeout(timer);
        fail(`ended with ${code}`);
      }
      void failAtItsEnd();
      awaited.push(look);
      look();
    });
  }

  const [, baseAddress = '', apiKey = ''] = await printed(/base URL {2}(\S+)\s+API key {3}(\S+)\s+curl/);
  return {
    baseAddress,
    apiKey,
    process: child,
    output: () => output,
    printed,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
