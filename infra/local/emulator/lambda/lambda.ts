import { globSync } from 'node:fs';
import { join } from 'node:path';
import { type FunctionResource, type Instance, type InstanceOptions, startInstance } from './instance.ts';
import type { Invocation } from './invocation.ts';
import { EmulatorError } from '../errors.ts';

/** Maximum number of instances per function. Each instance uses 35 MB, and a fourth did not increase throughput. */
const MAX_INSTANCES = 3;

export interface LambdaFunction {
  invoke: (event: unknown) => Promise<Invocation>;
}

export type RunningFunction = ReturnType<typeof createFunction>;

/** @throws EmulatorError if the assembly does not contain the function's bundle. */
export function bundleIn(assembly: string, { logicalId, properties }: FunctionResource): string {
  const [module] = properties.Handler.split('.');
  const pattern = `asset.${properties.Code.S3Key.replace(/\.zip$/, '')}/${module}.{mjs,cjs,js}`;
  const [file] = globSync(pattern, { cwd: assembly });
  if (file) return join(assembly, file);
  throw new EmulatorError('stack', `The assembly ${assembly} does not contain the bundle of ${logicalId}.`);
}

/**
 * Creates a function with Lambda's execution model. Instances start on demand, handle one event at a time, and are
 * reused. An instance is terminated if an event exceeds the function's timeout.
 */
export function createFunction(resource: FunctionResource, options: InstanceOptions) {
  let { file } = options;
  /** Instances that run the current bundle or still handle an event with an earlier bundle. */
  const alive = new Set<Instance>();
  const idle = new Set<Instance>();
  const waiting: ((instance: Instance) => void)[] = [];

  function start(): Instance {
    const instance = startInstance(resource, { ...options, file }, (reason) => {
      alive.delete(instance);
      // An idle instance has no invocation that could return the reason, so the reason is logged.
      if (idle.delete(instance)) options.log(`${resource.logicalId}: ${reason}`);
    });
    alive.add(instance);
    return instance;
  }

  function retire(instance: Instance): void {
    alive.delete(instance);
    idle.delete(instance);
    void instance.terminate();
  }

  function acquire(): Instance | Promise<Instance> {
    const [instance = alive.size < MAX_INSTANCES ? start() : undefined] = idle;
    if (!instance) return new Promise((resolve) => waiting.push(resolve));
    idle.delete(instance);
    return instance;
  }

  function release(instance: Instance): void {
    const isUsable = alive.has(instance) && instance.file === file;
    if (!isUsable) retire(instance);
    const next = waiting.shift();
    if (next) next(isUsable ? instance : start());
    else if (isUsable) idle.add(instance);
  }

  return {
    invoke: async (event: unknown): Promise<Invocation> => {
      const instance = await acquire();
      const invocation = await instance.invoke(event);
      release(instance);
      return invocation;
    },
    /** Handles new events with the given bundle. Resolves when all instances of the previous bundle have exited. */
    updateCode: async (bundle: string): Promise<void> => {
      const before = [...alive];
      file = bundle;
      for (const instance of idle) retire(instance);
      // An instance starts before the first event so that load errors are logged immediately.
      release(start());
      await Promise.all(before.map(({ exited }) => exited));
    },
    close: async (): Promise<void> => {
      idle.clear();
      await Promise.all([...alive].map(({ terminate }) => terminate()));
    },
  };
}
