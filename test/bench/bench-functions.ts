import { build } from 'esbuild';
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundleIn } from '../../infra/local/lambda/lambda.ts';
import { projectRoot, readTemplate } from '../../infra/local/template/assembly.ts';
import { region, type Template } from '../../infra/local/template/template.ts';
import { readBundlings } from '../../infra/local/watch/bundles.ts';
import { type Call, type CallName, callsFor } from './bench-calls.ts';

export interface MeasuredFunction extends Call {
  name: string;
  /** The folder of its bundle, `index.mjs`. */
  folder: string;
  bundleBytes: number;
  environment: Record<string, string>;
  /** As deployed; yardsticks have none. */
  memoryMegabytes?: number;
}

/** Modules of functions or yardsticks by row. Rows that are compared follow each other, as the machine's speed changes. */
const sources: Record<string, [module: string, call: CallName, environment?: Record<string, string>]> = {
  'list-pets over 16 keys': ['list-pets', 'listOverKeys', { LIST_PARTITIONS: '16' }],
  'list-pets': ['list-pets', 'list'],
  'bare list': ['bare-list', 'list'],
  'bare list, primed': ['bare-list', 'list'],
  'create-pet': ['create-pet', 'create'],
  'bare create': ['bare-create', 'create'],
  'bare create, primed': ['bare-create', 'create'],
  'create-pet with a key': ['create-pet', 'createWithKey'],
  'bare create with a key': ['bare-create', 'createWithKey'],
  'bare create with a key, primed': ['bare-create', 'createWithKey'],
  'get-pet': ['get-pet', 'get'],
  authorizer: ['authorizer', 'authorize'],
  'hello world': ['hello', 'hello'],
};
const yardsticks = ['bare-list', 'bare-create', 'hello'];

/** As IAM gives it to a function. */
const SESSION_TOKEN_CHARACTERS = 900;

/**
 * The functions of an assembly as they are deployed, and the yardsticks, bundled alike.
 *
 * @param folder where the bundles of the yardsticks are written
 * @param databaseEnvironment variables that lead to the database
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
    HOME: folder, // without the developer's configuration
    ...databaseEnvironment,
  };
  const template = readTemplate('staging', assembly);
  const modules = await readModules(template, assembly, folder);
  const calls = callsFor(template, apiKey);
  return Object.entries(sources).map(([name, [module, call, own]]) => {
    const { environment, ...bundle } = modules.get(module)!;
    const { event } = calls[call];
    // As often as our functions warm up.
    const priming = name.endsWith('primed') && { PRIMING_EVENTS: `[${event},${event}]` };
    return {
      name,
      ...bundle,
      ...calls[call],
      environment: { ...common, ...environment, ...own, ...priming },
    };
  });
}

async function readModules(template: Template, assembly: string, folder: string) {
  const bundlings = readBundlings('staging', assembly);
  const modules = new Map<string, Omit<MeasuredFunction, 'name' | keyof Call>>();
  for (const resource of template.resources('AWS::Lambda::Function')) {
    const { Environment, MemorySize: memoryMegabytes } = resource.properties;
    const module = moduleOf(bundleIn(assembly, resource), Environment.Variables);
    modules.set(basename(bundlings.get(resource.logicalId)!.entry, '.ts'), { ...module, memoryMegabytes });
  }
  const { PETS_TABLE = '', INTENTS_TABLE = '' } = modules.get('create-pet')!.environment;
  // The alias replaces parts of the SDK in our bundles only.
  const { alias: _, ...options } = bundlings.values().next().value!.options;
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
