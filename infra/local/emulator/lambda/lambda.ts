import { globSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FunctionResource,
  type Instance,
  type InstanceOptions,
  type Invocation,
  startInstance,
} from './instance.ts';
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
  const alive = new Set<Instance>();
  const idle = new Set<Instance>();
  const waiting: (() => void)[] = [];
  let free = MAX_INSTANCES;

  function start(): Instance {
    const instance = startInstance(resource, { ...options, file }, (reason) => {
      alive.delete(instance);
      // An idle instance has no invocation that could return the reason, so the reason is logged.
      if (idle.delete(instance)) options.log(`${resource.logicalId}: ${reason}`);
    });
    alive.add(instance);
    return instance;
  }

  function release(instance: Instance): void {
    idle.delete(instance);
    if (alive.has(instance) && instance.file === file) idle.add(instance);
    else if (alive.delete(instance)) void instance.terminate();
  }

  return {
    invoke: async (event: unknown): Promise<Invocation> => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      const [instance = start()] = idle;
      idle.delete(instance);
      const invocation = await instance.invoke(event);
      release(instance);
      const next = waiting.shift();
      if (next) next();
      else free += 1;
      return invocation;
    },
    /** Handles new events with the given bundle. Resolves when all instances of the previous bundle have exited. */
    updateCode: async (bundle: string): Promise<void> => {
      const previous = [...alive];
      file = bundle;
      for (const instance of idle) release(instance);
      // An instance starts before the first event so that load errors are logged immediately.
      idle.add(start());
      await Promise.all(previous.map(({ exited }) => exited));
    },
    close: async (): Promise<void> => {
      idle.clear();
      await Promise.all([...alive].map(({ terminate }) => terminate()));
    },
  };
}
