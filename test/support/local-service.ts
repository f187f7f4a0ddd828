import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const runner = fileURLToPath(new URL('../../infra/local/main.ts', import.meta.url));

export interface LocalService {
  baseAddress: string;
  apiKey: string;
  process: ChildProcess;
  /** All that it has printed so far, errors included. */
  output: () => string;
  /** Sends the signal and waits for the end; gives the exit code, null when the signal ended it. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/**
 * Starts the local service as `npm start` does, in a process of its own.
 *
 * @param options as on the command line; a free port and memory for the data unless told otherwise.
 * @throws Error with all that it printed when it ends before it serves.
 */
export async function startLocalService(...options: string[]): Promise<LocalService> {
  const child = spawn(process.execPath, [runner, '--port', '0', '--data', 'memory', ...options]);
  let printed = '';
  const ended = once(child, 'exit');
  const address = await new Promise<{ baseAddress: string; apiKey: string }>((resolve, reject) => {
    let isServing = false;
    function collect(chunk: Buffer): void {
      printed += chunk.toString();
      if (isServing) return; // what is printed can become long: it is searched for the address once
      const [, baseAddress, apiKey] = /base address {2}(\S+)\s+API key {7}(\S+)\s+curl/.exec(printed) ?? [];
      if (!baseAddress || !apiKey) return;
      isServing = true;
      resolve({ baseAddress, apiKey });
    }
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('exit', (code) => reject(new Error(`The local service ended with ${code}:\n${printed}`)));
  });
  return {
    ...address,
    process: child,
    output: () => printed,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
