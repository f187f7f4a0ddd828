import { build } from 'esbuild';
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundleIn } from '../../infra/local/lambda/lambda.ts';
import { projectRoot, readTemplate } from '../../infra/local/template/assembly.ts';
import { region } from '../../infra/local/template/template.ts';
import { readBundlings } from '../../infra/local/watch/bundles.ts';
import { type Call, callsFor } from './bench-calls.ts';

export interface MeasuredFunction extends Call {
  name: string;
  /** The folder of its bundle, `index.mjs`. */
  folder: string;
  bundleBytes: number;
  environment: Record<string, string>;
}

/** Yardsticks, by module. */
const yardsticks = {
  hello: 'hello world',
  'bare-list': 'bare list',
  'bare-list-primed': 'bare list, primed',
  'bare-create': 'bare create',
  'bare-create-primed': 'bare create, primed',
};

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
  const calls = callsFor(template, apiKey);
  const measured = (module: string, file: string, environment: Record<string, string>, name = module) => ({
    name,
    folder: dirname(file),
    bundleBytes: statSync(file).size,
    environment: { ...common, ...environment },
    ...calls[module]!,
  });

  const bundlings = readBundlings('staging', assembly);
  const resources = template.resources('AWS::Lambda::Function');
  const ours = resources.map((resource) => {
    const module = basename(bundlings.get(resource.logicalId)!.entry, '.ts');
    return measured(module, bundleIn(assembly, resource), resource.properties.Environment.Variables);
  });
  const { PETS_TABLE = '' } = ours.find(({ name }) => name === 'list-pets')!.environment;
  // The alias replaces parts of the SDK in our bundles only.
  const { alias: _, ...options } = bundlings.values().next().value!.options;
  const others = Object.entries(yardsticks).map(async ([module, name]) => {
    const entry = join(projectRoot, `test/bench/yardsticks/${module}.ts`);
    const outfile = join(folder, module, 'index.mjs');
    await build({ ...options, absWorkingDir: projectRoot, entryPoints: [entry], outfile });
    return measured(module, outfile, { PETS_TABLE }, name);
  });
  return [...ours, ...(await Promise.all(others))];
}
