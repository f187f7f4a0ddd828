import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { databaseEnvironment } from '../dynamodb/dynamodb.ts';
import type { Resource } from '../template/template.ts';

/** Heap size for short-lived objects. The default size would add up to 192 MB to the function's memory size. */
const YOUNG_GENERATION_MEGABYTES = 12;

export type FunctionResource = Resource<'AWS::Lambda::Function'>;

/** Result of an event as JSON, or the reason why the event failed. */
export interface Invocation {
  result?: string;
  error?: string;
}

export interface InstanceOptions {
  file: string;
  databaseEndpoint: string;
  log: (line: string) => void;
}

export type Instance = ReturnType<typeof startInstance>;

/** Starts an instance of a function. The instance gets no environment variables of this process. */
export function startInstance(
  { logicalId, properties }: FunctionResource,
  { file, databaseEndpoint, log }: InstanceOptions,
) {
  const { Environment, Handler, MemorySize, Timeout } = properties;
  const worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
    workerData: { file, Handler, MemorySize },
    env: {
      ...Environment.Variables,
      AWS_LAMBDA_FUNCTION_NAME: logicalId,
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      ...databaseEnvironment(databaseEndpoint, logicalId),
    },
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: {
      maxOldGenerationSizeMb: MemorySize - YOUNG_GENERATION_MEGABYTES,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MEGABYTES,
    },
  });
  let state: 'idle' | 'busy' | 'ended' = 'idle';
  let finish: ((invocation: Invocation) => void) | undefined;

  function end(error: string): void {
    // An idle instance has no event that could fail with the error.
    if (state === 'idle') log(`${logicalId}: ${error}`);
    state = 'ended';
    finish?.({ error });
    void worker.terminate();
  }

  for (const stream of [worker.stdout, worker.stderr]) forEachLine(stream, log);
  worker.on('message', (invocation: Invocation) => finish?.(invocation));
  worker.on('error', (error) => end(inspect(error)));
  worker.on('exit', (code) => end(`The instance exited with code ${code}`));
  return {
    file,
    exited: new Promise<unknown>((resolve) => worker.on('exit', resolve)),
    isIdle: () => state === 'idle',
    invoke: async (event: unknown): Promise<Invocation> => {
      state = 'busy';
      const timer = setTimeout(() => end(`Task timed out after ${Timeout} seconds`), Timeout * 1000);
      worker.postMessage({ event, deadline: Date.now() + Timeout * 1000 });
      const invocation = await new Promise<Invocation>((resolve) => (finish = resolve));
      clearTimeout(timer);
      if (state === 'busy') state = 'idle';
      return invocation;
    },
    terminate: (): Promise<unknown> => {
      state = 'ended';
      return worker.terminate();
    },
  };
}

/** Splits lines only at `\n`. `node:readline` also splits at U+2028, which JSON strings can contain unescaped. */
function forEachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    lines.forEach(onLine);
  });
  stream.on('close', () => rest && onLine(rest));
}
