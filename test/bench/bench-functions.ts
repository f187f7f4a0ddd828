import { build } from 'esbuild';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleIn } from '../../infra/local/emulator/lambda/lambda.ts';
import { bundlingOptions, projectRoot } from '../../infra/stack/bundling.ts';
import { readTemplate, region, type Template } from '../../infra/local/emulator/template/template.ts';
import { type Call, type CallName, callsFor } from './bench-calls.ts';

export interface MeasuredFunction extends Call {
  name: string;
  /** Folder that contains the bundle, `index.mjs`. */
  folder: string;
  bundleBytes: number;
  environment: Record<string, string>;
  /** Memory size in the template, or undefined for a yardstick. */
  memoryMegabytes?: number;
}

/** Functions and yardsticks by row name. Compared rows are adjacent because the machine's speed drifts. */
const sources: Record<string, [module: string, call: CallName, environment?: Record<string, string>]> = {
  'list-pets, 16 partitions': ['list-pets', 'listPartitions', { LIST_PARTITIONS: '16' }],
  'list-pets': ['list-pets', 'list'],
  'bare list': ['bare-list', 'list'],
  'bare list, primed': ['bare-list', 'list'],
  'create-pet': ['create-pet', 'create'],
  'bare create': ['bare-create', 'create'],
  'bare create, primed': ['bare-create', 'create'],
  'create-pet, idempotent': ['create-pet', 'createOnce'],
  'bare create, idempotent': ['bare-create', 'createOnce'],
  'bare create, idempotent, primed': ['bare-create', 'createOnce'],
  'get-pet': ['get-pet', 'get'],
  authorizer: ['authorizer', 'authorize'],
  'hello world': ['hello', 'hello'],
};
const yardsticks = ['bare-list', 'bare-create', 'hello'];

/** Typical length of an execution role's session token. */
const SESSION_TOKEN_CHARACTERS = 900;

/**
 * Returns the functions of an assembly, and the yardsticks. Bundles the yardsticks with the functions' options.
 *
 * @param folder output folder for the yardsticks' bundles
 * @param databaseEnvironment environment variables that contain the database's address
 */
export async function prepareFunctions(
  assembly: string,
  folder: string,
  apiKey: string,
  databaseEnvironment: Record<string, string>,
): Promise<MeasuredFunction[]> {
  const common: Record<string, string> = {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: 'ACCESS-KEY-OF-BENCH',
    AWS_SECRET_ACCESS_KEY: 'the-secret-access-key-of-the-benchmark',
    AWS_SESSION_TOKEN: 'x'.repeat(SESSION_TOKEN_CHARACTERS),
    HOME: folder, // hides the developer's AWS configuration
    ...databaseEnvironment,
  };
  const template = readTemplate('PetStore-staging', assembly);
  const modules = await readModules(template, assembly, folder);
  const calls = callsFor(template, apiKey);
  return Object.entries(sources).map(([name, [module, call, rowEnvironment]]) => {
    const { environment, ...bundle } = modules.get(module)!;
    const { event } = calls[call];
    // Primed yardsticks run their request twice during init, as the functions do.
    const priming = name.endsWith('primed') && { PRIMING_EVENTS: `[${event},${event}]` };
    return {
      name,
      ...bundle,
      ...calls[call],
      environment: { ...common, ...environment, ...rowEnvironment, ...priming },
    };
  });
}

async function readModules(template: Template, assembly: string, folder: string) {
  const modules = new Map<string, Omit<MeasuredFunction, 'name' | keyof Call>>();
  for (const resource of template.resources('AWS::Lambda::Function')) {
    const { Environment, MemorySize: memoryMegabytes } = resource.properties;
    const module = moduleOf(bundleIn(assembly, resource), Environment.Variables);
    modules.set(resource.metadata['bundle'] as string, { ...module, memoryMegabytes });
  }
  const { PETS_TABLE = '', INTENTS_TABLE = '' } = modules.get('create-pet')!.environment;
  // Yardsticks keep the modules of the SDK and of Node.js that are replaced in the functions' bundles.
  const { alias: _, plugins: __, ...options } = bundlingOptions;
  for (const name of yardsticks) {
    const entry = join(projectRoot, `test/bench/yardsticks/${name}.ts`);
    const outfile = join(folder, name, 'index.mjs');
    await build({ ...options, absWorkingDir: projectRoot, entryPoints: [entry], outfile });
    modules.set(name, moduleOf(outfile, { PETS_TABLE, INTENTS_TABLE }));
  }
  return modules;
}

function moduleOf(file: string, environment: Record<string, string>) {
  return { folder: dirname(file), bundleBytes: statSync(file).size, environment };
}
