import { type ChildProcess, fork } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import { databaseEnvironment } from '../dynamodb/dynamodb.ts';
import type { Resource } from '../template/template.ts';

/** Option with which stack traces name the sources instead of the bundle, if the bundle names a source map. */
const NAME_SOURCES = '--enable-source-maps';

/** Heap size for short-lived objects. The default size would add up to 192 MB to the function's memory size. */
const YOUNG_GENERATION_MEGABYTES = 12;

export type FunctionResource = Resource<'AWS::Lambda::Function'>;

export interface FunctionOptions {
  /** Path of the function's bundle. */
  file: string;
  databaseEndpoint: string;
  /** Loopback port for a debugger. The function then has one instance and no timeout. @default - no debugger */
  inspectPort?: number;
  /** Receives each line that the function writes, and the errors of its invocations and instances. */
  log: (line: string) => void;
}

/** Thread or process of an instance. It emits `message`, `error` and `exit`. */
interface Runtime extends EventEmitter, Pick<Worker, 'stdout' | 'stderr'> {
  send: (message: object) => void;
  terminate: () => Promise<unknown>;
}

/**
 * Starts the runtime in a thread. With a debugger, the runtime starts in a process, because a thread at a breakpoint
 * cannot be terminated. The runtime gets no environment variables of this process, except those that attach a debugger.
 */
export function startRuntime(resource: FunctionResource, options: FunctionOptions): Runtime {
  const { Environment, Handler, MemorySize } = resource.properties;
  const argv = [options.file, Handler, MemorySize.toString()];
  const env = {
    ...Environment.Variables,
    AWS_LAMBDA_FUNCTION_NAME: resource.logicalId,
    ...databaseEnvironment(options.databaseEndpoint, resource.logicalId),
  };
  return options.inspectPort
    ? startProcess(argv, env, debuggerAddress(options))
    : startThread(argv, env, MemorySize);
}

/** Returns the host and port for the function's debugger, on the same loopback address as the database. */
export function debuggerAddress({
  databaseEndpoint,
  inspectPort,
}: Pick<FunctionOptions, 'databaseEndpoint' | 'inspectPort'>): string {
  return `${new URL(databaseEndpoint).hostname}:${inspectPort}`;
}

const script = new URL('./lambda-worker.ts', import.meta.url);

function startThread(argv: string[], env: NodeJS.ProcessEnv, memoryMegabytes: number): Runtime {
  const thread = new Worker(script, {
    argv,
    // This variable makes functions prime themselves during init. Only threads get it, because with a debugger, priming
    // would stop at breakpoints.
    env: { ...env, AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' },
    execArgv: [NAME_SOURCES],
    stdout: true,
    stderr: true,
    resourceLimits: {
      maxOldGenerationSizeMb: memoryMegabytes - YOUNG_GENERATION_MEGABYTES,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MEGABYTES,
    },
  });
  return Object.assign(thread, { send: (message: object) => thread.postMessage(message) });
}

function startProcess(argv: string[], env: NodeJS.ProcessEnv, address: string): Runtime {
  // VS Code sets these variables to attach to child processes.
  const { NODE_OPTIONS, VSCODE_INSPECTOR_OPTIONS } = process.env;
  // The debugger's address contains a random id, and anyone who knows it can run code as the developer. VS Code gets the
  // address from the process. Chrome and `node inspect` need Node to publish it over HTTP, where every user can read it.
  // https://nodejs.org/api/cli.html#--inspect-publish-uidstderrhttp
  const publish = VSCODE_INSPECTOR_OPTIONS ? 'stderr' : 'http';
  const child = fork(script, argv, {
    env: { ...env, NODE_OPTIONS, VSCODE_INSPECTOR_OPTIONS },
    execArgv: [NAME_SOURCES, `--inspect=${address}`, `--inspect-publish-uid=${publish}`],
    silent: true,
    windowsHide: true,
    detached: true, // The child must not receive the Ctrl-C that stops its parent.
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const terminate = () => {
    child.kill('SIGKILL');
    return exited;
  };
  // With `silent`, both output streams exist, although their types allow null.
  return Object.assign(child as ChildProcess & Pick<Runtime, 'stdout' | 'stderr'>, { terminate });
}
