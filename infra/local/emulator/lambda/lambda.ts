import { type ChildProcess, fork } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { databaseEnvironment } from '../dynamodb/dynamodb.ts';
import { EmulatorError } from '../errors.ts';
import type { Resource } from '../template/template.ts';

/** Maximum number of instances per function. A fourth instance used 35 MB without increasing the throughput. */
const MAX_INSTANCES = 3;

/** Heap size for short-lived objects. The default size would add up to 192 MB to the function's memory size. */
const YOUNG_GENERATION_MEGABYTES = 12;

type FunctionResource = Resource<'AWS::Lambda::Function'>;

/** A function's result as JSON, or the reason why the invocation failed. */
export interface Invocation {
  result?: string;
  error?: string;
}

interface FunctionOptions {
  file: string;
  databaseEndpoint: string;
  /** Port on 127.0.0.1 for a debugger. The function then has one instance and no timeout. @default - no debugger */
  inspectPort?: number;
  log: (line: string) => void;
}

/** Thread or process of an instance. */
type Runtime = EventEmitter & Pick<Worker, 'stdout' | 'stderr' | 'terminate'> & Pick<ChildProcess, 'send'>;

export type RunningFunction = ReturnType<typeof createFunction>;
export type LambdaFunction = Pick<RunningFunction, 'invoke'>;

/** Returns the path of the function's bundle. @throws EmulatorError if the assembly does not contain the bundle. */
export function bundleIn(assembly: string, { logicalId, properties }: FunctionResource): string {
  const [module] = properties.Handler.split('.');
  const pattern = `asset.${properties.Code.S3Key.replace(/\.zip$/, '')}/${module}.{mjs,cjs,js}`;
  const [file] = globSync(pattern, { cwd: assembly });
  if (file) return join(assembly, file);
  throw new EmulatorError(`${assembly} does not contain the bundle of ${logicalId}. Run cdk synth again.`);
}

/**
 * Creates a function with Lambda's execution model. Instances start on demand, handle one event at a time, and are
 * reused. An instance is terminated if an event exceeds the function's timeout.
 */
export function createFunction(resource: FunctionResource, options: FunctionOptions) {
  let { file } = options;
  const { inspectPort, log } = options;
  let maxInstances = inspectPort ? 1 : MAX_INSTANCES;
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
      if (!idle && instances.size >= maxInstances) return;
      waiting.shift()!(idle ?? start());
    }
  }

  return {
    handler: resource.properties.Handler,
    inspectPort,
    invoke: (event: unknown) =>
      new Promise<Invocation>((resolve) => {
        waiting.push(async (instance) => {
          const invocation = await instance.invoke(event);
          if (invocation.error) log(`${resource.logicalId}: ${invocation.error}`);
          resolve(invocation);
          assignEvents();
        });
        assignEvents();
      }),
    /** Handles new events with the given bundle. Resolves when all instances of the previous bundle have exited. */
    updateCode: async (bundle: string): Promise<void> => {
      file = bundle;
      const retired = Promise.all([...instances].map(({ retire }) => retire()));
      if (inspectPort) await retired; // The previous instance uses the port until it exits.
      // An instance starts before the first event so that load errors are logged immediately.
      if (instances.size < maxInstances) start();
      await retired;
    },
    /** Terminates all instances, including instances that are handling events. */
    close: async (): Promise<void> => {
      maxInstances = 0;
      await Promise.all([...instances].map(({ terminate }) => terminate()));
    },
  };
}

function startInstance(resource: FunctionResource, options: FunctionOptions, onExit: () => void) {
  const { Timeout } = resource.properties;
  // A debugger can pause an instance for the longest time that a timer supports, 24 days.
  const milliseconds = options.inspectPort ? 2 ** 31 - 1 : Timeout * 1000;
  const runtime = startRuntime(resource, options);
  let isOpen = true;
  let inProgress: PromiseWithResolvers<Invocation> | undefined;

  async function terminate(error?: string): Promise<void> {
    // An idle instance has no invocation that could return the error, so the error is logged here.
    if (error && isOpen && !inProgress) options.log(`${resource.logicalId}: ${error}`);
    isOpen = false;
    if (error) inProgress?.resolve({ error });
    await runtime.terminate();
  }

  for (const stream of [runtime.stdout, runtime.stderr]) createInterface(stream).on('line', options.log);
  runtime.on('message', (invocation: Invocation) => inProgress?.resolve(invocation));
  runtime.on('error', (error) => terminate(inspect(error)));
  runtime.on('exit', (code, signal) => terminate(`The instance exited with code ${code ?? signal}`));
  runtime.on('exit', onExit);

  return {
    isIdle: () => isOpen && !inProgress,
    invoke: async (event: unknown): Promise<Invocation> => {
      inProgress = Promise.withResolvers();
      const timer = setTimeout(() => terminate(`Task timed out after ${Timeout} seconds`), milliseconds);
      runtime.send({ event, deadline: Date.now() + milliseconds });
      const invocation = await inProgress.promise;
      clearTimeout(timer);
      inProgress = undefined;
      return invocation;
    },
    terminate,
    /** Terminates the instance after the event in progress has been handled. */
    retire: async (): Promise<void> => {
      isOpen = false;
      await inProgress?.promise;
      await terminate();
    },
  };
}

/**
 * Starts the runtime in a thread. With a debugger, the runtime starts in a process, because a thread at a breakpoint
 * cannot be terminated. The runtime gets no environment variables of this process, except those that attach a debugger.
 */
function startRuntime({ logicalId, properties }: FunctionResource, options: FunctionOptions): Runtime {
  const { file, databaseEndpoint, inspectPort } = options;
  const { Environment, Handler, MemorySize } = properties;
  const url = new URL('./lambda-worker.ts', import.meta.url);
  const argv = [file, Handler, MemorySize.toString()];
  const env = {
    ...Environment.Variables,
    AWS_LAMBDA_FUNCTION_NAME: logicalId,
    // This variable makes functions prime themselves during init. With a debugger, priming would stop at breakpoints.
    ...(!inspectPort && { AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' }),
    ...databaseEnvironment(databaseEndpoint, logicalId),
  };
  if (!inspectPort) {
    const resourceLimits = {
      maxOldGenerationSizeMb: MemorySize - YOUNG_GENERATION_MEGABYTES,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MEGABYTES,
    };
    const thread = new Worker(url, { argv, env, execArgv: [], stdout: true, stderr: true, resourceLimits });
    return Object.assign(thread, { send: (message: unknown) => (thread.postMessage(message), true) });
  }
  // VS Code sets these variables to attach to child processes.
  const { NODE_OPTIONS, VSCODE_INSPECTOR_OPTIONS } = process.env;
  const child = fork(url, argv, {
    env: { ...env, NODE_OPTIONS, VSCODE_INSPECTOR_OPTIONS },
    execArgv: [`--inspect=127.0.0.1:${inspectPort}`, '--inspect-publish-uid=http'],
    silent: true,
    windowsHide: true,
    detached: true, // The child must not receive the Ctrl-C that stops its parent.
  });
  const exited = new Promise<number>((resolve) => child.once('exit', resolve));
  return Object.assign(child as ChildProcess & Runtime, { terminate: () => (child.kill('SIGKILL'), exited) });
}
