import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { type FunctionOptions, type FunctionResource, startRuntime } from './runtime.ts';

/** A function's result as JSON, or the reason why the invocation failed. */
export interface Invocation {
  result?: string;
  error?: string;
}

/** Maximum delay of a Node.js timer: 24 days. */
const MAX_TIMER_MILLISECONDS = 2 ** 31 - 1;

export type Instance = ReturnType<typeof startInstance>;

/** Starts an instance, which handles one event at a time. The instance is terminated if an event exceeds the timeout. */
export function startInstance(resource: FunctionResource, options: FunctionOptions, onExit: () => void) {
  const { logicalId, properties } = resource;
  // A debugger can pause an instance for any time, so the timeout is as long as a timer allows.
  const timeout = options.inspectPort ? MAX_TIMER_MILLISECONDS : properties.Timeout * 1000;
  const runtime = startRuntime(resource, options);
  let isOpen = true;
  let inProgress: PromiseWithResolvers<Invocation> | undefined;

  for (const stream of [runtime.stdout, runtime.stderr]) createInterface(stream).on('line', options.log);
  runtime.on('message', (invocation: Invocation) => inProgress?.resolve(invocation));
  runtime.on('error', (error) => fail(inspect(error)));
  runtime.on('exit', (code, signal) => {
    void fail(`The instance exited with code ${code ?? signal}`);
    onExit();
  });

  async function terminate(): Promise<void> {
    isOpen = false;
    await runtime.terminate();
  }

  /** Terminates the instance. The error becomes the result of the event in progress. */
  async function fail(error: string): Promise<void> {
    // An idle instance has no invocation that could return the error, so the error is logged here.
    if (isOpen && !inProgress) options.log(`${logicalId}: ${error}`);
    inProgress?.resolve({ error });
    await terminate();
  }

  return {
    isIdle: () => isOpen && !inProgress,
    async invoke(event: unknown): Promise<Invocation> {
      inProgress = Promise.withResolvers();
      const timer = setTimeout(() => fail(`Task timed out after ${properties.Timeout} seconds`), timeout);
      runtime.send({ event, deadline: Date.now() + timeout });
      const invocation = await inProgress.promise;
      clearTimeout(timer);
      inProgress = undefined;
      return invocation;
    },
    terminate,
    /** Terminates the instance after the event in progress has been handled. */
    async retire(): Promise<void> {
      isOpen = false;
      await inProgress?.promise;
      await terminate();
    },
  };
}
