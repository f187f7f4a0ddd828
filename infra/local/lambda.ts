import { once } from 'node:events';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { region, type Resource } from './template.ts';

/** Instances of one function at a time; further events wait for one, where Lambda would start more. */
const MAX_INSTANCES = 4;

/** What comes of an invocation: the result as JSON, or the error for which there is none. */
export type Invocation = { result: string } | { error: string };

export interface LambdaFunction {
  invoke: (event: unknown) => Promise<Invocation>;
  close: () => Promise<void>;
}

interface FunctionOptions {
  /** Folder of the cloud assembly, which holds the bundles. */
  assembly: string;
  databaseEndpoint: string;
}

/**
 * Runs a function of the template in workers, as Lambda runs it in instances: each with the function's own
 * environment and nothing of this process's, one event at a time, started when needed and kept for the next
 * event, ended when it takes longer than its time-out.
 */
export function createFunction(
  { logicalId, properties }: Resource<'AWS::Lambda::Function'>,
  { assembly, databaseEndpoint }: FunctionOptions,
): LambdaFunction {
  const [module, exportName] = properties.Handler.split('.');
  const instances = new Set<Worker>();
  const idle: Worker[] = [];
  const waiting: ((instance: Worker) => void)[] = [];

  function startInstance(): Worker {
    const instance = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
      workerData: {
        file: join(assembly, `asset.${properties.Code.S3Key.replace(/\.zip$/, '')}`, `${module}.mjs`),
        exportName,
        functionName: logicalId,
        memoryLimitInMB: properties.MemorySize,
      },
      env: {
        ...properties.Environment.Variables,
        AWS_LAMBDA_FUNCTION_NAME: logicalId,
        AWS_REGION: region,
        AWS_ACCESS_KEY_ID: logicalId,
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_CONFIG_FILE: devNull,
        AWS_SHARED_CREDENTIALS_FILE: devNull,
        AWS_ENDPOINT_URL_DYNAMODB: databaseEndpoint,
      },
      resourceLimits: { maxOldGenerationSizeMb: properties.MemorySize },
    });
    instances.add(instance);
    return instance;
  }

  function takeInstance(): Worker | Promise<Worker> {
    const instance = idle.pop();
    if (instance) return instance;
    if (instances.size < MAX_INSTANCES) return startInstance();
    return new Promise((resolve) => waiting.push(resolve));
  }

  function giveBack(instance: Worker): void {
    const next = waiting.shift();
    if (next) next(instance);
    else idle.push(instance);
  }

  async function discard(instance: Worker): Promise<void> {
    instances.delete(instance);
    await instance.terminate();
    const next = waiting.shift();
    if (next) next(startInstance());
  }

  return {
    async invoke(event) {
      const instance = await takeInstance();
      const timeout = AbortSignal.timeout(properties.Timeout * 1000);
      try {
        instance.postMessage({ event, deadline: Date.now() + properties.Timeout * 1000 });
        const [invocation] = (await once(instance, 'message', { signal: timeout })) as [Invocation];
        giveBack(instance);
        return invocation;
      } catch (error) {
        await discard(instance);
        if (timeout.aborted) return { error: `Task timed out after ${properties.Timeout} seconds` };
        return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
      }
    },
    async close() {
      await Promise.all([...instances].map((instance) => instance.terminate()));
    },
  };
}
