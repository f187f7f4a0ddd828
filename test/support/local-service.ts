import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { parseJson } from '../../shared/contract/json.ts';
import { sharedSynthesis } from './assembly.ts';
import { sharedCompileCache } from './run-command.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';

export type LocalService = Awaited<ReturnType<typeof startLocalServiceOf>>;

/**
 * Starts the local service in a child process. `npm start` runs the same command.
 *
 * @param options command-line options. By default, the service uses a free port, data in memory and the assembly that
 *   all tests share.
 * @throws Error with the output if the service exits or is not ready in time
 */
export async function startLocalService(...options: string[]): Promise<LocalService> {
  if (!options.includes('--assembly')) options.push('--assembly', await sharedSynthesis());
  return startLocalServiceOf('.', ...options);
}

/** Starts the local service of the project in the folder `project`, which can be a copy of this project. */
export async function startLocalServiceOf(project: string, ...options: string[]) {
  const runner = ['--require', './infra/require-node.cjs', join(project, 'infra/local/main.ts')];
  const child = spawn(process.execPath, [...runner, '--port', '0', '--data', 'memory', ...options], {
    env: { ...process.env, ...sharedCompileCache() },
  });
  let output = '';
  const prints = new EventEmitter();
  // The `close` event follows the last output, unlike the `exit` event.
  const ended = once(child, 'close');
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      prints.emit('print');
    });
  }

  /**
   * Waits until the output contains a match of `pattern`, and returns the match.
   *
   * @throws Error with the output if the service exits or prints no match in time
   */
  async function printed(pattern: RegExp): Promise<RegExpExecArray> {
    const signal = AbortSignal.timeout(WAIT_LIMIT_MILLISECONDS);
    for (let fault = ''; ;) {
      const found = pattern.exec(output);
      if (found) return found;
      if (fault) throw new Error(`The local service ${fault}:\n${output}`);
      await Promise.race([
        once(prints, 'print', { signal }).catch(() => (fault = `did not print ${String(pattern)} in time`)),
        ended.then(([code]) => (fault = `exited with code ${code}`)),
      ]);
    }
  }

  const [, baseUrl = '', apiKey = ''] = await printed(/base URL {2}(\S+)\s+API key {3}(\S+)\s+curl/);
  /** Sends a request with the API key and a Content-Type for JSON. */
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${baseUrl}${path}`, {
      ...init,
      headers: {
        Authorization: `Bearer ${apiKey}`,
        'Content-Type': 'application/json',
        ...(init.headers as Record<string, string>),
      },
    });
  return {
    baseUrl,
    apiKey,
    request,
    /** Sends a request and returns the parsed body with its integers as bigint. */
    call: async (path: string, init?: RequestInit): Promise<any> =>
      parseJson(await (await request(path, init)).text()),
    process: child,
    /** Returns all output so far, including errors. */
    output: () => output,
    printed,
    /** Sends the signal, waits for the exit and returns the exit code, or null if the signal terminated the process. */
    stop: async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
