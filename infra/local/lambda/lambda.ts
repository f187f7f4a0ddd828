import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type FunctionResource, type Instance, type InstanceOptions, startInstance } from './instance.ts';
import type { Invocation } from './invocation.ts';
import { UsageError } from '../../operate/command.ts';

/** Concurrent instances of a function, of 35 MB each. A fourth one did not increase the requests per second. */
const MAX_INSTANCES = 3;

export interface LambdaFunction {
  invoke: (event: unknown) => Promise<Invocation>;
}

export type RunningFunction = ReturnType<typeof createFunction>;

/** The file of a function's bundle in the cloud assembly. @throws UsageError if the assembly lacks it. */
export function bundleIn(assembly: string, { logicalId, properties }: FunctionResource): string {
  const [module] = properties.Handler.split('.');
  const file = join(assembly, `asset.${properties.Code.S3Key.replace(/\.zip$/, '')}`, `${module}.mjs`);
  if (existsSync(file)) return file;
  throw new UsageError(
    `The assembly ${assembly} lacks the bundle of ${logicalId}: synthesize this stack again with npx cdk synth.`,
  );
}

/**
 * Runs a function of the template in instances as Lambda does: each handles one event at a time, is started on demand,
 * is reused for the next event, and is ended when an event exceeds the function's timeout.
 */
export function createFunction(resource: FunctionResource, options: InstanceOptions) {
  let { file } = options;
  /** All of the current bundle, and those of earlier bundles that still handle an event. */
  const alive = new Set<Instance>();
  const idle = new Set<Instance>();
  const waiting: ((instance: Instance) => void)[] = [];

  function start(): Instance {
    const instance = startInstance(resource, { ...options, file }, (reason) => {
      alive.delete(instance);
      // No event will report the reason.
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
    /** Sends new events to another bundle. Resolves when the instances of the previous one have handled theirs and exited. */
    updateCode: async (bundle: string): Promise<void> => {
      const before = [...alive];
      file = bundle;
      for (const instance of idle) retire(instance);
      // Started before its first event, so that a bundle that cannot be loaded is reported at once.
      release(start());
      await Promise.all(before.map(({ exited }) => exited));
    },
    close: async (): Promise<void> => {
      idle.clear();
      await Promise.all([...alive].map(({ terminate }) => terminate()));
    },
  };
}
