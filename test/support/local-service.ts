import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sharedCompileCache } from './run-command.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

export type LocalService = Awaited<ReturnType<typeof startLocalServiceOf>>;

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
export async function startLocalServiceOf(project: string, ...options: string[]) {
  const runner = join(project, 'infra/local/main.ts');
  const child = spawn(process.execPath, [runner, '--port', '0', '--data', 'memory', ...options], {
    env: { ...process.env, ...sharedCompileCache() },
  });
  let output = '';
  const prints = new EventEmitter();
  // All that it printed has arrived then.
  const ended = once(child, 'close');
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      prints.emit('print');
    });
  }

  /** Waits until what it has printed matches; fails with all that it printed when it does not. */
  async function printed(pattern: RegExp): Promise<RegExpExecArray> {
    const signal = AbortSignal.timeout(WAIT_LIMIT_MILLISECONDS);
    for (let fault = ''; ;) {
      const found = pattern.exec(output);
      if (found) return found;
      if (fault) throw new Error(`The local service ${fault}:\n${output}`);
      await Promise.race([
        once(prints, 'print', { signal }).catch(() => (fault = `printed nothing like ${String(pattern)}`)),
        ended.then(([code]) => (fault = `ended with ${code}`)),
      ]);
    }
  }

  const [, baseUrl = '', apiKey = ''] = await printed(/base URL {2}(\S+)\s+API key {3}(\S+)\s+curl/);
  return {
    baseUrl,
    apiKey,
    /** Calls the API with the key, and sends the body as JSON. */
    request: (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${baseUrl}${path}`, {
        ...init,
        headers: {
          Authorization: `Bearer ${apiKey}`,
          'Content-Type': 'application/json',
          ...(init.headers as Record<string, string>),
        },
      }),
    process: child,
    /** All that it has printed so far, errors included. */
    output: () => output,
    printed,
    /** Sends the signal and waits for the end; gives the exit code, null when the signal ended it. */
    stop: async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
