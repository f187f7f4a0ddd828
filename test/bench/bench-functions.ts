import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../../infra/operate/command.ts';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { createBundler, readBundlings } from '../../infra/local/watch/bundles.ts';
import { bundleIn } from '../../infra/local/lambda/lambda.ts';
import { region } from '../../infra/local/template/template.ts';
import { eventsFor } from './bench-events.ts';
import type { FunctionToRun } from './instance.ts';

/** A function with the event that it is called with. */
export interface MeasuredFunction extends FunctionToRun {
  name: string;
  bundleBytes: number;
  event: string;
  /** Whether it is what has to come of the event; throws where it is nothing like it. */
  isRight: (result: any) => boolean;
}

type Call = Pick<MeasuredFunction, 'event' | 'isRight'>;

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
 * The functions of an assembly as they would be deployed, and the yardsticks beside them, bundled alike.
 *
 * @param folder takes the bundles of the yardsticks.
 * @param databaseEnvironment leads to the database.
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
    HOME: folder, // where no configuration of the developer's is
    ...databaseEnvironment,
  };
  const calls = callsFor(apiKey);
  const bundlings = readBundlings('staging', assembly);
  const resources = readTemplate('staging', assembly).resources('AWS::Lambda::Function');
  const ours = resources.map((resource) => {
    const file = bundleIn(assembly, resource);
    const name = basename(bundlings.get(resource.logicalId)!.entry, '.ts');
    return {
      name,
      folder: dirname(file),
      bundleBytes: statSync(file).size,
      environment: { ...common, ...resource.properties.Environment.Variables },
      ...calls[name]!,
    };
  });
  const {
    environment: { PETS_TABLE = '' },
  } = ours.find(({ name }) => name === 'list-pets')!;

  // What stands in our bundles for parts of the SDK is ours.
  const { alias: _, ...options } = bundlings.values().next().value!.options;
  const others = Object.entries(yardsticks).map(async ([module, name]) => {
    const file = await bundle(`test/bench/yardsticks/${module}.ts`, options, join(folder, module));
    return {
      name,
      folder: dirname(file),
      bundleBytes: statSync(file).size,
      environment: { ...common, PETS_TABLE },
      ...calls[module.replace('-primed', '')]!,
    };
  });
  return [...ours, ...(await Promise.all(others))];
}

async function bundle(entry: string, options: Record<string, unknown>, folder: string): Promise<string> {
  const bundler = await createBundler({ name: entry, entry, options });
  const { code, messages } = await bundler.build();
  await bundler.close();
  if (code === undefined) throw new UsageError(`${entry} cannot be bundled: ${messages.join(' ')}`);
  mkdirSync(folder);
  const file = join(folder, 'index.mjs');
  writeFileSync(file, code);
  return file;
}

/** What the functions and yardsticks are called with, by module. */
function callsFor(apiKey: string): Record<string, Call> {
  const { listPets, createPet, getPet, authorizer } = eventsFor(apiKey);
  const list: Call = {
    event: JSON.stringify(listPets),
    isRight: ({ statusCode, body }) => statusCode === 200 && JSON.parse(body).length === 20,
  };
  const create: Call = {
    event: JSON.stringify(createPet),
    isRight: ({ statusCode, body }) => statusCode === 201 && JSON.parse(body).name === 'Rex',
  };
  return {
    'list-pets': list,
    'bare-list': list,
    'create-pet': create,
    'bare-create': create,
    'get-pet': {
      event: JSON.stringify(getPet),
      isRight: ({ statusCode, body }) =>
        statusCode === 200 && JSON.parse(body).id === Number(getPet.pathParameters!['petId']),
    },
    authorizer: {
      event: JSON.stringify(authorizer),
      isRight: ({ policyDocument }) => policyDocument.Statement[0].Effect === 'Allow',
    },
    hello: {
      event: list.event,
      isRight: ({ statusCode, body }) => statusCode === 200 && JSON.parse(body).hello === 'world',
    },
  };
}
