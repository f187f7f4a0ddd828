import { build } from 'esbuild';
import { globSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundleIn } from '../../infra/local/emulator/lambda/lambda.ts';
import { projectRoot } from '../../infra/command.ts';
import { bundlingOptions } from '../../infra/stack/bundling.ts';
import { readTemplate, region } from '../../infra/local/emulator/template/template.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { type Operation, type OperationId, operations } from '../../shared/contract/operations.ts';
import { stackName } from '../../shared/names.ts';
import { createEvent, exampleEvent, listEvent, STAGE_DOMAIN } from '../support/api-gateway-event.ts';
import { contract } from '../support/contract.ts';
import { moduleOf } from '../support/invoke.ts';
import { collection, textField, validBody } from '../support/sample.ts';
import { itemId, type StubDatabase } from './stub-database.ts';

interface Bundle {
  /** Folder that contains the bundle, `index.mjs`. */
  folder: string;
  bundleBytes: number;
  environment: Record<string, string>;
  /** Memory size in the template, or undefined for a yardstick. */
  memoryMegabytes?: number;
}

interface Call {
  event: object;
  /** Strings that the JSON of a correct result contains. */
  expected: string[];
}

export type MeasuredFunction = Bundle & { name: string; event: string; expected: string[] };

/** A function at one memory size. */
export type Subject = MeasuredFunction & {
  megabytes: number;
  /** The function that API Gateway invokes before this function. */
  authorizer?: Subject;
};

/** Typical length of an execution role's session token. */
const SESSION_TOKEN_CHARACTERS = 900;

/**
 * Returns the functions of an assembly, and the yardsticks. Bundles the yardsticks with the functions' options.
 *
 * @param folder output folder for the yardsticks' bundles
 */
export async function prepareFunctions(assembly: string, folder: string, database: StubDatabase) {
  const common = {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: 'ACCESS-KEY-OF-BENCH',
    AWS_SECRET_ACCESS_KEY: 'the-secret-access-key-of-the-benchmark',
    AWS_SESSION_TOKEN: 'x'.repeat(SESSION_TOKEN_CHARACTERS),
    HOME: folder, // hides the developer's AWS configuration
    ...database.environment,
  };
  const bundles = await prepareBundles(assembly, folder);
  return Object.entries(callsFor(database.apiKey)).map(([name, call]): MeasuredFunction => {
    const { environment, ...bundle } = bundles.get(name.split(',')[0]!.replace(' ', '-'))!;
    const event = JSON.stringify(call.event);
    const variant: Record<string, string> = {
      ...(name.endsWith('16 partitions') && { LIST_PARTITIONS: '16' }),
      // Primed yardsticks run their request twice during init, as the functions do.
      ...(name.endsWith('primed') && { PRIMING_EVENTS: `[${event},${event}]` }),
    };
    return { ...bundle, ...call, name, event, environment: { ...common, ...environment, ...variant } };
  });
}

/** Returns the bundles of the functions and the yardsticks by the names of their modules. */
async function prepareBundles(assembly: string, folder: string) {
  const bundles = new Map<string, Bundle>();
  for (const resource of readTemplate(stackName('staging'), assembly).resources('AWS::Lambda::Function')) {
    const { Environment, MemorySize: memoryMegabytes } = resource.properties;
    const bundle = bundleOf(bundleIn(assembly, resource), Environment.Variables);
    bundles.set(resource.metadata['bundle'] as string, { ...bundle, memoryMegabytes });
  }
  const { PETS_TABLE = '', INTENTS_TABLE = '' } = bundles.get('create-pet')!.environment;
  // Yardsticks keep the modules of the SDK and of Node.js that are replaced in the functions' bundles.
  const { alias: _, plugins: __, ...options } = bundlingOptions;
  for (const entry of globSync(join(projectRoot, 'test/bench/yardsticks/*.ts'))) {
    const name = basename(entry, '.ts');
    const outfile = join(folder, name, 'index.mjs');
    await build({ ...options, absWorkingDir: projectRoot, entryPoints: [entry], outfile });
    bundles.set(name, bundleOf(outfile, { PETS_TABLE, INTENTS_TABLE }));
  }
  return bundles;
}

function bundleOf(file: string, environment: Record<string, string>): Bundle {
  return { folder: dirname(file), bundleBytes: statSync(file).size, environment };
}

/** Returns parts of an event that represents a request from curl to a regional REST API. */
function requestWith(apiKey: string, headers = {}) {
  return {
    headers: {
      Accept: '*/*',
      Authorization: `Bearer ${apiKey}`,
      ...headers,
      Host: STAGE_DOMAIN,
      'User-Agent': 'curl/8.14.1',
      'X-Amzn-Trace-Id': 'Root=1-5759e988-bd862e3fe1be46a994272793',
      'X-Forwarded-For': '203.0.113.7',
      'X-Forwarded-Port': '443',
      'X-Forwarded-Proto': 'https',
    },
    requestContext: { authorizer: { keyId: 'key_01JD8Z2V5W', principalId: 'key_01JD8Z2V5W' } },
  };
}

/**
 * Returns the calls by row name, which begins with the module's name. Compared rows are adjacent because the machine's
 * speed drifts. An operation without a row gets a row with its documented example request.
 */
function callsFor(apiKey: string): Record<string, Call> {
  const ok = '"statusCode":200';
  const listEventOfPage = listEvent({ limit: [`${PAGE.default}`] }, requestWith(apiKey));
  const list = { event: listEventOfPage, expected: [ok, itemId(0), itemId(PAGE.default - 1)] };
  const createWith = (headers = {}): Call => {
    const request = requestWith(apiKey, { 'Content-Type': 'application/json', ...headers });
    return { event: createEvent(validBody, request), expected: ['"statusCode":201', validBody[textField]] };
  };
  const create = createWith();
  const createOnce = createWith({ 'Idempotency-Key': '"e1c7d3f2-5f0b-4d7e-9a53-0c1c6d9e8f24"' });
  const methodArn = `arn:aws:execute-api:${region}:123456789012:abc123/staging/GET${collection}`;
  const calls: Record<string, Call> = {
    // The items of a page are spread over all list partitions, so only the newest item is always on the page.
    'list-pets, 16 partitions': { ...list, expected: [ok, itemId(0), '; rel='] },
    'list-pets': list,
    'bare list': list,
    'bare list, primed': list,
    'create-pet': create,
    'bare create': create,
    'bare create, primed': create,
    'create-pet, idempotent': createOnce,
    'bare create, idempotent': createOnce,
    'bare create, idempotent, primed': createOnce,
    authorizer: {
      event: { type: 'TOKEN', authorizationToken: `Bearer ${apiKey}`, methodArn },
      expected: ['"Effect":"Allow"'],
    },
    'hello world': { ...list, expected: [ok, 'world'] },
  };
  const { examples } = contract();
  for (const [id, { success }] of Object.entries<Operation>(operations)) {
    const event = exampleEvent(examples[id as OperationId], requestWith(apiKey));
    calls[moduleOf(id)] ??= { event, expected: [`"statusCode":${success.status}`] };
  }
  return calls;
}
