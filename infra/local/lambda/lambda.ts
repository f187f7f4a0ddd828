import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Invocation } from './invocation.ts';
import { RunnerError } from '../runner-error.ts';
import { region, type Resource } from '../template/template.ts';

/**
 * Instances of one function at a time; further events wait for one, where Lambda would start more. Each takes some
 * 35 MB, and a fourth one answered no more requests a second.
 */
const MAX_INSTANCES = 3;
/** Room for objects that do not last, of the function's memory; V8 would add up to 192 MB to it. */
const YOUNG_GENERATION_MEGABYTES = 12;

export interface LambdaFunction {
  invoke: (event: unknown) => Promise<Invocation>;
  close: () => Promise<void>;
}

export interface RunningFunction extends LambdaFunction {
  /** Starts an instance ahead of its first event, and hands on what goes wrong with it until then. */
  init: (fail: (error: string) => void) => void;
}

interface FunctionOptions {
  /** The bundle. */
  file: string;
  databaseEndpoint: string;
  /** Takes the lines that the function writes. */
  log: (line: string) => void;
}

interface Instance {
  worker: Worker;
  /** Takes what comes of the event that the instance is working on. */
  finish: (invocation: Invocation) => void;
}

/**
 * The file in the cloud assembly that holds a function's bundle.
 *
 * @throws RunnerError when the assembly does not hold it.
 */
export function bundleIn(
  assembly: string,
  { logicalId, properties }: Resource<'AWS::Lambda::Function'>,
): string {
  const [module] = properties.Handler.split('.');
  const file = join(assembly, `asset.${properties.Code.S3Key.replace(/\.zip$/, '')}`, `${module}.mjs`);
  if (existsSync(file)) return file;
  throw new RunnerError(
    `The assembly ${assembly} lacks the bundle of ${logicalId}: synthesize this stack again with npx cdk synth.`,
  );
}

/**
 * Runs a function of the template in workers, as Lambda runs it in instances: each with the function's own
 * environment and nothing of this process's, one event at a time, started when needed and kept for the next
 * event, ended when it takes longer than its time-out.
 */
export function createFunction(
  { logicalId, properties }: Resource<'AWS::Lambda::Function'>,
  { file, databaseEndpoint, log }: FunctionOptions,
): RunningFunction {
  const [, exportName] = properties.Handler.split('.');
  const alive = new Set<Instance>();
  const idle = new Set<Instance>();
  const waiting: ((instance: Instance) => void)[] = [];

  function startInstance(): Instance {
    const worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
      workerData: {
        file,
        exportName,
        functionName: logicalId,
        memoryLimitInMB: properties.MemorySize,
      },
      env: {
        ...properties.Environment.Variables,
        AWS_LAMBDA_FUNCTION_NAME: logicalId,
        AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
        AWS_REGION: region,
        AWS_ACCESS_KEY_ID: logicalId,
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_CONFIG_FILE: devNull,
        AWS_SHARED_CREDENTIALS_FILE: devNull,
        AWS_ENDPOINT_URL_DYNAMODB: databaseEndpoint,
      },
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxOldGenerationSizeMb: properties.MemorySize - YOUNG_GENERATION_MEGABYTES,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MEGABYTES,
      },
    });
    for (const stream of [worker.stdout, worker.stderr]) forEachLine(stream, log);
    const instance: Instance = { worker, finish() {} };
    worker.on('message', (invocation: Invocation) => instance.finish(invocation));
    worker.on('error', (error) => end(instance, inspect(error)));
    worker.on('exit', (code) => end(instance, `The instance exited with ${code}`));
    alive.add(instance);
    return instance;
  }

  function end(instance: Instance, error: string): void {
    alive.delete(instance);
    idle.delete(instance);
    void instance.worker.terminate();
    instance.finish({ error });
  }

  function take(): Instance | Promise<Instance> {
    const [instance] = idle;
    if (instance) {
      idle.delete(instance);
      return instance;
    }
    if (alive.size < MAX_INSTANCES) return startInstance();
    return new Promise((resolve) => waiting.push(resolve));
  }

  function giveBack(instance: Instance): void {
    instance.finish = () => {};
    const next = waiting.shift();
    if (next) next(alive.has(instance) ? instance : startInstance());
    else if (alive.has(instance)) idle.add(instance);
  }

  return {
    async invoke(event) {
      const instance = await take();
      const milliseconds = properties.Timeout * 1000;
      const invocation = await new Promise<Invocation>((resolve) => {
        const timer = setTimeout(() => {
          end(instance, `Task timed out after ${properties.Timeout} seconds`);
        }, milliseconds);
        instance.finish = (outcome) => {
          clearTimeout(timer);
          resolve(outcome);
        };
        instance.worker.postMessage({ event, deadline: Date.now() + milliseconds });
      });
      giveBack(instance);
      return invocation;
    },
    init(fail) {
      const instance = startInstance();
      instance.finish = (outcome) => {
        instance.finish = () => {}; // that it exits is said with the error
        if ('error' in outcome) fail(outcome.error);
      };
      idle.add(instance);
    },
    async close() {
      // That they end is nothing to tell of.
      for (const instance of idle) instance.finish = () => {};
      await Promise.all([...alive].map(({ worker }) => worker.terminate()));
    },
  };
}

/** Lines end at \n alone: what JSON may hold unescaped, such as U+2028, ends none, as it would for `node:readline`. */
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
