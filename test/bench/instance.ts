import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { dirname, parse } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../infra/command.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import type { MeasuredFunction } from './functions.ts';
import type { CpuQuota } from './cpu-quota.ts';

const runtimeClient = fileURLToPath(new URL('runtime-client.mjs', import.meta.url));

/**
 * Starts an instance. As on Lambda, the instance has a full core during init and then the CPU share of its memory size.
 *
 * @throws Error with the process's output if init fails
 */
export async function startInstance(fn: MeasuredFunction, megabytes: number, quota?: CpuQuota) {
  const { name, file, environment, expected } = fn;
  const event = JSON.stringify(fn.event);
  const exited = new AbortController();
  const { address, receive, close } = await startRuntimeApi(exited.signal);
  quota?.setMemorySize();
  const start = performance.now();
  const child = spawn(process.execPath, [...memoryOptions(megabytes), runtimeClient], {
    env: { ...environment, ...lambdaEnvironment(file, megabytes), AWS_LAMBDA_RUNTIME_API: address },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  // This listener is prepended so that the process ends before its control group is removed.
  process.prependOnceListener('exit', kill);
  quota?.add(child.pid!);
  const errors = text(child.stderr);
  const ended = once(child, 'exit').then(async ([code, signal]) =>
    exited.abort(new Error(`The instance exited with ${code ?? signal}: ${await errors}`)),
  );
  let [, next] = await receive('/next');
  const initMilliseconds = performance.now() - start;
  quota?.setMemorySize(megabytes);
  return {
    /** Time from the start of the process to its request for the first event. */
    initMilliseconds,
    /**
     * Sends the function's event. Invocations must not overlap.
     *
     * @throws UsageError if the function returns a wrong result
     * @throws Error if the function fails or the process ends
     */
    async invoke() {
      const sent = performance.now();
      next.writeHead(200, eventHeaders()).end(event);
      const [request, response] = await receive('/response');
      const result = await text(request);
      response.writeHead(202, { 'Content-Type': 'application/json' }).end('{}');
      const milliseconds = performance.now() - sent;
      [, next] = await receive('/next');
      // Lambda bills an invocation until the runtime requests the next event.
      const billedMilliseconds = Math.ceil(performance.now() - sent);
      if (!result.includes(expected))
        throw new UsageError(`${name} returned a wrong response. Fix the function first: ${result}`);
      return { milliseconds, billedMilliseconds };
    },
    /** Returns the CPU time that the process has used. */
    cpuMilliseconds: () => cpuTimeOf(child.pid!),
    async [Symbol.asyncDispose](): Promise<void> {
      kill();
      await ended;
      process.off('exit', kill);
      await close();
    },
  };
}

/** Starts the Runtime API of one instance. https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html */
async function startRuntimeApi(exited: AbortSignal) {
  const server = createServer();
  server.keepAliveTimeout = 0; // keeps the connection of an idle instance open
  const requests = on(server, 'request', { signal: exited });
  const { origin, close } = await listenOnLoopback(server);

  /** Waits for the runtime's next request, whose path must end in `call`. The runtime sends one request at a time. */
  async function receive(call: string): Promise<[IncomingMessage, ServerResponse]> {
    const { value } = await requests.next().catch(() => Promise.reject(exited.reason as Error));
    const [request, response] = value as [IncomingMessage, ServerResponse];
    if (request.url!.endsWith(call)) return [request, response];
    throw new Error(`The function failed (${request.url}): ${await text(request)}`);
  }
  return { address: origin.replace('http://', ''), receive, close };
}

function eventHeaders(): Record<string, string> {
  return {
    'Lambda-Runtime-Aws-Request-Id': '8476a536-e9f4-11e8-9739-2dfe598c3fcd',
    'Lambda-Runtime-Deadline-Ms': `${Date.now() + 10_000}`,
    'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:us-east-1:000000000000:function:bench:live',
    'Lambda-Runtime-Trace-Id': 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0',
  };
}

function lambdaEnvironment(file: string, megabytes: number): Record<string, string> {
  return {
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: megabytes.toString(),
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_LAMBDA_FUNCTION_VERSION: '1',
    AWS_LAMBDA_LOG_FORMAT: 'JSON',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    LAMBDA_TASK_ROOT: dirname(file),
    _HANDLER: `${parse(file).name}.handler`,
    TZ: ':UTC',
  };
}

/** Returns the Node.js options for a memory size, as observed in Lambda's runtimes. */
function memoryOptions(megabytes: number): string[] {
  const newSpace = Math.floor(megabytes / 10);
  return [
    '--expose-gc',
    `--max-semi-space-size=${Math.floor(newSpace / 2)}`,
    `--max-old-space-size=${megabytes - newSpace}`,
  ];
}

/** Returns the CPU time of a process in milliseconds, or 0 if the operating system is not Linux. */
function cpuTimeOf(pid: number): number {
  return globSync(`/proc/${pid}/task/*/schedstat`)
    .map((file) => Number.parseInt(readFileSync(file, 'utf8'), 10) / 1_000_000)
    .reduce((sum, each) => sum + each, 0);
}
