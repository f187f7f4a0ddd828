import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { CpuQuota } from './cpu-quota.ts';
import { findRuntime } from './runtime.ts';
import { type Answer, startRuntimeApi } from './runtime-api.ts';

export interface FunctionToRun {
  /** Folder of its bundle, `index.mjs`. */
  folder: string;
  environment: Record<string, string>;
}

export interface Instance extends AsyncDisposable {
  /** From the start of the process until it asked for its first event. */
  initMilliseconds: number;
  /** Rejects when the function fails, or the process has ended. */
  invoke: (event: string) => Promise<Answer>;
  /** Processor time that it has used so far. Where `canReadProcesses`. */
  cpuMilliseconds: () => number;
  /** Memory that it has now. Where `canReadProcesses`. */
  residentBytes: () => number;
  stop: () => Promise<void>;
}

/** Whether the system tells of processes in the way of Linux. */
export const canReadProcesses = existsSync('/proc/self/schedstat');

/**
 * Starts an instance of a function as Lambda does: init with a whole core, then with what its memory size gives.
 *
 * @throws Error with what the function, or its process, said when it failed in init.
 */
export async function startInstance(
  { folder, environment }: FunctionToRun,
  megabytes: number,
  quota?: CpuQuota,
  runtime = findRuntime(),
): Promise<Instance> {
  const runtimeApi = await startRuntimeApi();
  quota?.setMemorySize();
  const start = performance.now();
  const child = spawn(process.execPath, [...memoryOptions(megabytes), runtime.file], {
    env: {
      ...environment,
      AWS_LAMBDA_RUNTIME_API: runtimeApi.address,
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: megabytes.toString(),
      AWS_LAMBDA_FUNCTION_NAME: 'bench',
      AWS_LAMBDA_FUNCTION_VERSION: '1',
      AWS_LAMBDA_LOG_GROUP_NAME: 'bench',
      AWS_LAMBDA_LOG_STREAM_NAME: 'bench',
      AWS_LAMBDA_LOG_FORMAT: 'JSON',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      LAMBDA_TASK_ROOT: folder,
      _HANDLER: 'index.handler',
      TZ: ':UTC',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const pid = child.pid!;
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  quota?.hold(pid);
  const errors = text(child.stderr);
  const ended = once(child, 'exit').then(async ([code, signal]) =>
    runtimeApi.fail(new Error(`The instance ended with ${code ?? signal}: ${await errors}`)),
  );
  async function stop(): Promise<void> {
    kill();
    await ended;
    process.off('exit', kill);
    runtimeApi.close();
  }
  try {
    await runtimeApi.ready;
  } catch (error) {
    await stop();
    throw error;
  }
  const initMilliseconds = performance.now() - start;
  quota?.setMemorySize(megabytes);

  return {
    initMilliseconds,
    invoke: runtimeApi.invoke,
    cpuMilliseconds: () =>
      readdirSync(`/proc/${pid}/task`)
        .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
        .reduce((sum, nanoseconds) => sum + nanoseconds / 1e6, 0),
    residentBytes: () =>
      Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1_024,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Options that Lambda's runtimes for Node were seen to give it by memory size. */
function memoryOptions(megabytes: number): string[] {
  const newSpace = Math.floor(megabytes / 10);
  return [
    '--expose-gc',
    `--max-semi-space-size=${Math.floor(newSpace / 2)}`,
    `--max-old-space-size=${megabytes - newSpace}`,
  ];
}
