import { devNull } from 'node:os';
import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Invocation } from './invocation.ts';
import { region, type Resource } from '../template/template.ts';

/** Of a function's memory, for short-lived objects. V8 would add up to 192 MB for them. */
const YOUNG_GENERATION_MEGABYTES = 12;

export type FunctionResource = Resource<'AWS::Lambda::Function'>;

export interface InstanceOptions {
  file: string;
  databaseEndpoint: string;
  log: (line: string) => void;
}

export type Instance = ReturnType<typeof startInstance>;

/**
 * Starts an instance with the environment of its function, and nothing of this process's environment.
 *
 * @param onEnd called with the reason when the instance ends, at least once, before its event gets the error.
 */
export function startInstance(
  { logicalId, properties }: FunctionResource,
  { file, databaseEndpoint, log }: InstanceOptions,
  onEnd: (reason: string) => void,
) {
  const { Environment, Handler, MemorySize, Timeout } = properties;
  const worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
    workerData: {
      file,
      exportName: Handler.split('.')[1],
      functionName: logicalId,
      memoryLimitInMB: MemorySize,
    },
    env: { ...Environment.Variables, ...environmentOf(logicalId, databaseEndpoint) },
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: {
      maxOldGenerationSizeMb: MemorySize - YOUNG_GENERATION_MEGABYTES,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MEGABYTES,
    },
  });
  let finish: ((invocation: Invocation) => void) | undefined;

  function end(reason: string): void {
    onEnd(reason);
    void worker.terminate();
    finish?.({ error: reason });
  }

  for (const stream of [worker.stdout, worker.stderr]) forEachLine(stream, log);
  worker.on('message', (invocation: Invocation) => finish?.(invocation));
  worker.on('error', (error) => end(inspect(error)));
  worker.on('exit', (code) => end(`The instance exited with ${code}`));
  return {
    file,
    exited: new Promise<unknown>((resolve) => worker.on('exit', resolve)),
    terminate: () => worker.terminate(),
    invoke: (event: unknown) =>
      new Promise<Invocation>((resolve) => {
        const timer = setTimeout(() => end(`Task timed out after ${Timeout} seconds`), Timeout * 1000);
        finish = (invocation) => {
          clearTimeout(timer);
          resolve(invocation);
        };
        worker.postMessage({ event, deadline: Date.now() + Timeout * 1000 });
      }),
  };
}

/** The variables that Lambda sets, and those that lead the SDK to the local database. */
function environmentOf(functionName: string, databaseEndpoint: string): Record<string, string> {
  return {
    AWS_LAMBDA_FUNCTION_NAME: functionName,
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: functionName,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_ENDPOINT_URL_DYNAMODB: databaseEndpoint,
  };
}

/** Lines end at \n only: unlike `node:readline`, which also splits at U+2028, a character that JSON may hold unescaped. */
function forEachLine(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  stream.on('close', () => {
    if (rest) take(rest);
  });
}
