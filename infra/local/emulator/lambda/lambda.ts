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
  const instances = new Set<Instance>();
  const waiting: ((instance: Instance) => void)[] = [];

  function start(): Instance {
    const instance = startInstance(resource, { ...options, file });
    instances.add(instance);
    void instance.exited.then(() => instances.delete(instance)).then(assignEvents);
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
          if (instance.file !== file) void instance.terminate();
          assignEvents();
        });
        assignEvents();
      }),
    /** Handles new events with the given bundle. Resolves when all instances of the previous bundle have exited. */
    updateCode: async (bundle: string): Promise<void> => {
      const previous = [...instances];
      file = bundle;
      for (const instance of previous) if (instance.isIdle()) void instance.terminate();
      start(); // An instance starts before the first event so that load errors are logged immediately.
      await Promise.all(previous.map(({ exited }) => exited));
    },
    close: async (): Promise<void> => {
      waiting.length = 0;
      await Promise.all([...instances].map(({ terminate }) => terminate()));
    },
  };
}
