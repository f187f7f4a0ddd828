import { globSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { databaseEnvironment } from '../dynamodb/dynamodb.ts';
import { EmulatorError } from '../errors.ts';
import type { Resource } from '../template/template.ts';

/** Maximum number of instances per function. Each instance uses 35 MB, and a fourth did not increase throughput. */
const MAX_INSTANCES = 3;

/** Heap size for short-lived objects. The default size would add up to 192 MB to the function's memory size. */
const YOUNG_GENERATION_MEGABYTES = 12;

type FunctionResource = Resource<'AWS::Lambda::Function'>;

/** Result of an event as JSON, or the reason why the event failed. */
export interface Invocation {
  result?: string;
  error?: string;
}

interface FunctionOptions {
  file: string;
  databaseEndpoint: string;
  log: (line: string) => void;
}

export type RunningFunction = ReturnType<typeof createFunction>;
export type LambdaFunction = Pick<RunningFunction, 'invoke'>;

/** @throws EmulatorError if the assembly does not contain the function's bundle. */
export function bundleIn(assembly: string, { logicalId, properties }: FunctionResource): string {
  const [module] = properties.Handler.split('.');
  const pattern = `asset.${properties.Code.S3Key.replace(/\.zip$/, '')}/${module}.{mjs,cjs,js}`;
  const [file] = globSync(pattern, { cwd: assembly });
  if (file) return join(assembly, file);
  throw new EmulatorError(
    `The assembly ${assembly} does not contain the bundle of ${logicalId}. Synthesize it again.`,
  );
}

/**
 * Creates a function with Lambda's execution model. Instances start on demand, handle one event at a time, and are
 * reused. An instance is terminated if an event exceeds the function's timeout.
 */
export function createFunction(resource: FunctionResource, options: FunctionOptions) {
  let { file } = options;
  const instances = new Set<ReturnType<typeof start>>();
  const waiting: ((instance: ReturnType<typeof start>) => void)[] = [];

  function start() {
    const instance = startInstance(resource, { ...options, file }, () => {
      instances.delete(instance);
      assignEvents();
    });
    instances.add(instance);
    return instance;
  }

  function assignEvents(): void {
    while (waiting.length > 0) {
      const idle = instances.values().find(({ isIdle }) => isIdle());
      if (!idle && instances.size >= MAX_INSTANCES) return;
      waiting.shift()!(idle ?? start());
    }
  }

  return {
    invoke: (event: unknown) =>
      new Promise<Invocation>((resolve) => {
        waiting.push(async (instance) => {
          resolve(await instance.invoke(event));
          assignEvents();
        });
        assignEvents();
      }),
    /** Handles new events with the given bundle. Resolves when all instances of the previous bundle have exited. */
    updateCode: async (bundle: string): Promise<void> => {
      const previous = [...instances];
      file = bundle;
      start(); // An instance starts before the first event so that load errors are logged immediately.
      await Promise.all(previous.map(({ close }) => close()));
    },
    close: async (): Promise<void> => {
      waiting.length = 0;
      await Promise.all([...instances].map(({ close }) => close()));
    },
  };
}

/** Starts an instance of a function. The instance gets no environment variables of this process. */
function startInstance(
  { logicalId, properties }: FunctionResource,
  { file, databaseEndpoint, log }: FunctionOptions,
  onExit: () => void,
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
  let isOpen = true;
  let inProgress: PromiseWithResolvers<Invocation> | undefined;

  function end(error: string): void {
    // An idle instance has no event that could fail with the error.
    if (isOpen && !inProgress) log(`${logicalId}: ${error}`);
    isOpen = false;
    inProgress?.resolve({ error });
    void worker.terminate();
  }

  for (const stream of [worker.stdout, worker.stderr]) createInterface(stream).on('line', log);
  worker.on('message', (invocation: Invocation) => inProgress?.resolve(invocation));
  worker.on('error', (error) => end(inspect(error)));
  worker.on('exit', (code) => end(`The instance exited with code ${code}`));
  worker.on('exit', onExit);
  return {
    isIdle: () => isOpen && !inProgress,
    invoke: async (event: unknown): Promise<Invocation> => {
      inProgress = Promise.withResolvers();
      const timer = setTimeout(() => end(`Task timed out after ${Timeout} seconds`), Timeout * 1000);
      worker.postMessage({ event, deadline: Date.now() + Timeout * 1000 });
      const invocation = await inProgress.promise;
      clearTimeout(timer);
      inProgress = undefined;
      return invocation;
    },
    /** Terminates the instance after its event in progress. */
    close: async (): Promise<void> => {
      isOpen = false;
      await inProgress?.promise;
      await worker.terminate();
    },
  };
}
