import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EmulatorError } from '../emulator-error.ts';
import { type Instance, type Invocation, startInstance } from './instance.ts';
import type { FunctionOptions, FunctionResource } from './runtime.ts';

/** Maximum number of instances per function. A fourth instance used 35 MB without increasing the throughput. */
const MAX_INSTANCES = 3;

export type RunningFunction = ReturnType<typeof createFunction>;
export type LambdaFunction = Pick<RunningFunction, 'invoke'>;

/** Event that waits for an idle instance. */
interface WaitingEvent {
  event: unknown;
  respond: (invocation: Invocation) => void;
}

/** Returns the path of the function's bundle. @throws EmulatorError if the assembly does not contain the bundle. */
export function bundleIn(assembly: string, { logicalId, properties }: FunctionResource): string {
  const [module] = properties.Handler.split('.');
  const [asset] = properties.Code.S3Key.split('.');
  const file = join(assembly, `asset.${asset}`, `${module}.mjs`);
  if (existsSync(file)) return file;
  throw new EmulatorError(`${assembly} does not contain the bundle of ${logicalId}. Run cdk synth again.`);
}

/**
 * Creates a function with Lambda's execution model. Instances start on demand, handle one event at a time, and are
 * reused. An instance is terminated if an event exceeds the function's timeout.
 */
export function createFunction(resource: FunctionResource, options: FunctionOptions) {
  const { inspectPort, log } = options;
  let { file } = options;
  let maxInstances = inspectPort ? 1 : MAX_INSTANCES;
  const instances = new Set<Instance>();
  const waiting: WaitingEvent[] = [];

  function start(): Instance {
    const instance = startInstance(resource, { ...options, file }, () => {
      instances.delete(instance);
      assignEvents();
    });
    instances.add(instance);
    return instance;
  }

  function assignEvents(): void {
    while (waiting.length > 0) {
      const idle = instances.values().find((instance) => instance.isIdle());
      if (!idle && instances.size >= maxInstances) return;
      void handle(waiting.shift()!, idle ?? start());
    }
  }

  async function handle({ event, respond }: WaitingEvent, instance: Instance): Promise<void> {
    const invocation = await instance.invoke(event);
    if (invocation.error) log(`${resource.logicalId}: ${invocation.error}`);
    respond(invocation);
    assignEvents();
  }

  return {
    handler: resource.properties.Handler,
    inspectPort,
    invoke: (event: unknown) =>
      new Promise<Invocation>((resolve) => {
        waiting.push({ event, respond: resolve });
        assignEvents();
      }),
    /** Handles new events with the given bundle. Resolves when all instances of the previous bundle have exited. */
    updateCode: async (bundle: string): Promise<void> => {
      file = bundle;
      const retired = Promise.all([...instances].map((instance) => instance.retire()));
      if (inspectPort) await retired; // The previous instance uses the port until it exits.
      // An instance starts before the first event so that load errors are logged immediately.
      if (instances.size < maxInstances) start();
      await retired;
    },
    /** Terminates all instances, including instances that are handling events. */
    close: async (): Promise<void> => {
      maxInstances = 0;
      await Promise.all([...instances].map((instance) => instance.terminate()));
    },
  };
}
