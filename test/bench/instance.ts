import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { MeasuredFunction } from './bench-functions.ts';
import type { CpuQuota } from './cpu-quota.ts';
import { startRuntimeApi } from './runtime-api.ts';

export type Instance = Awaited<ReturnType<typeof startInstance>>;

/** The runtime interface client, which gets events from the Runtime API and calls the handler. */
export const runtime = findRuntime();

function findRuntime(): { name: string; file: string } {
  const folder = fileURLToPath(new URL('runtime', import.meta.url));
  const client = `${folder}/node_modules/aws-lambda-ric`;
  if (existsSync(`${client}/rapid-client.node`)) {
    const { name, version } = JSON.parse(readFileSync(`${client}/package.json`, 'utf8'));
    return { name: `${name} ${version}`, file: `${client}/index.mjs` };
  }
  // Building AWS's client requires a C++ compiler, so the benchmark also runs without it.
  return { name: "substitute for AWS's runtime interface client", file: `${folder}/substitute.mjs` };
}

/**
 * Starts an instance. As on Lambda, the instance has a full core during init and then the CPU share of its memory size.
 *
 * @throws Error with the process's output if init fails
 */
export async function startInstance(
  { folder, environment }: Pick<MeasuredFunction, 'folder' | 'environment'>,
  megabytes: number,
  quota?: CpuQuota,
) {
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
  const kill = () => child.kill('SIGKILL');
  // This listener is prepended so that the process ends before its control group is removed.
  process.prependOnceListener('exit', kill);
  quota?.add(child.pid!);
  const errors = text(child.stderr);
  const ended = once(child, 'exit').then(async ([code, signal]) =>
    runtimeApi.fail(new Error(`The instance exited with ${code ?? signal}: ${await errors}`)),
  );
  async function stop(): Promise<void> {
    kill();
    await ended;
    process.off('exit', kill);
    await runtimeApi.close();
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
    /** Time from the start of the process to its request for the first event. */
    initMilliseconds,
    /** Rejects if the function fails or the process ends. */
    invoke: runtimeApi.invoke,
    usage: () => usageOf(`/proc/${child.pid}`),
    [Symbol.asyncDispose]: stop,
  };
}

/** Returns the Node options that Lambda's runtimes were observed to set for a memory size. */
function memoryOptions(megabytes: number): string[] {
  const newSpace = Math.floor(megabytes / 10);
  return [
    '--expose-gc',
    `--max-semi-space-size=${Math.floor(newSpace / 2)}`,
    `--max-old-space-size=${megabytes - newSpace}`,
  ];
}

/** Returns a process's CPU time and resident memory in megabytes of 2^20 bytes, or undefined if not on Linux. */
function usageOf(folder: string) {
  if (!existsSync(`${folder}/schedstat`)) return undefined;
  const nanoseconds = readdirSync(`${folder}/task`).map((thread) =>
    Number(readFileSync(`${folder}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`${folder}/status`, 'utf8'))!;
  return {
    cpuMilliseconds: nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6,
    residentMegabytes: Number(kilobytes) / 1_024,
  };
}
