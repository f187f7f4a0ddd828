import { startDatabase } from './dynamodb/dynamodb.ts';
import type { OpenStore } from './dynamodb/store.ts';
import { EmulatorError } from './emulator-error.ts';
import { createApiGateway } from './gateway/api-gateway.ts';
import { requireFreePort, serve, type ServerSettings } from './gateway/server.ts';
import { bundleIn, createFunction, type RunningFunction } from './lambda/lambda.ts';
import { readPermissions } from './template/permissions.ts';
import { readTemplate } from './template/template.ts';

export interface EmulatorOptions {
  /** Folder of the cloud assembly that `cdk synth` wrote. */
  assembly: string;
  stackName: string;
  /** Result of `openStore`. Close the store after the emulator. */
  store: OpenStore;
  /** Port for a debugger of the first function. Each further function uses the next port. 0 disables debuggers. */
  inspectPort: number;
  /** Names of environment variables that functions do not get, even if the template sets them. @default - none */
  omittedVariables?: string[];
  /** Receives each line that a function writes, and the errors of its invocations and instances. */
  log: (line: string) => void;
}

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

/**
 * Runs the REST API, the functions and the tables of a stack. The result's `listen` serves the API.
 *
 * @example
 * const store = await openStore(); // in memory
 * const emulator = await startEmulator({ assembly: 'cdk.out', stackName: 'Sample', store, inspectPort: 0, log });
 * const port = await emulator.listen(0);
 * @throws EmulatorError if the stack is missing, or if the emulator cannot run the stack.
 */
export async function startEmulator(options: EmulatorOptions) {
  const { assembly, stackName, store, inspectPort, omittedVariables = [], log } = options;
  await using starting = new AsyncDisposableStack(); // stops what has started if a later step fails
  const template = readTemplate(stackName, assembly);
  const tables = template.resources('AWS::DynamoDB::GlobalTable');
  const database = await startDatabase(store, tables, readPermissions(template));
  starting.defer(database.close);

  const functions = new Map<string, RunningFunction>();
  for (const resource of template.resources('AWS::Lambda::Function')) {
    const file = bundleIn(assembly, resource);
    const ownInspectPort = inspectPort && inspectPort + functions.size;
    if (ownInspectPort) await requireFreePort(ownInspectPort);
    for (const name of omittedVariables) delete resource.properties.Environment.Variables[name];
    const settings = { file, databaseEndpoint: database.endpoint, inspectPort: ownInspectPort, log };
    const fn = createFunction(resource, settings);
    starting.defer(fn.close);
    functions.set(resource.logicalId, fn);
  }

  const api = createApiGateway(template, functions);
  const started = starting.move();
  return {
    template,
    functions,
    api,
    databaseEndpoint: database.endpoint,
    /**
     * Serves the API on localhost.
     *
     * @returns the port, which is a free port if `port` is 0
     * @throws EmulatorError if the port cannot be used
     */
    async listen(port: number, settings?: ServerSettings): Promise<number> {
      if (port && functions.values().some((fn) => fn.inspectPort === port))
        throw new EmulatorError(`Port ${port} is the port of a debugger. Choose another port.`);
      const server = await serve(api, port, settings);
      started.defer(server.close);
      return server.port;
    },
    /** Stops accepting requests, waits for the requests in progress, and stops the functions and the database. */
    close: async (): Promise<void> => {
      // With debuggers, the functions are stopped first, because a request at a breakpoint would not end.
      if (inspectPort) await Promise.all(functions.values().map((fn) => fn.close()));
      await started.disposeAsync();
    },
  };
}
