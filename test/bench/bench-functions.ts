import { build, type Plugin } from 'esbuild';
import { join } from 'node:path';
import { bundleIn } from '../../infra/local/emulator/lambda/lambda.ts';
import { projectRoot } from '../../infra/command.ts';
import { bundlingOptions, handlerModule } from '../../infra/stack/bundling.ts';
import { readTemplate, region } from '../../infra/local/emulator/template/template.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { type Operation, type OperationId, operations } from '../../shared/contract/operations.ts';
import { stackName } from '../../shared/names.ts';
import { createEvent, exampleEvent, listEvent, STAGE_DOMAIN } from '../support/api-gateway-event.ts';
import { contract } from '../support/contract.ts';
import { moduleOf } from '../support/invoke.ts';
import { collection, validBody } from '../support/sample.ts';
import { itemId, type StubDatabase } from './stub-database.ts';

/** A bundled function and the event to invoke it with. The JSON of a correct result contains `expected`. */
export interface MeasuredFunction {
  name: string;
  file: string;
  environment: Record<string, string>;
  event: object;
  expected: string;
}

/** A function to measure at one memory size. */
export type Subject = MeasuredFunction & { megabytes: number };

/** Returns the name of the module that a row measures, such as `bare-list` for the row `bare list, primed`. */
export const moduleIn = (name: string) => name.split(',')[0]!.replace(' ', '-');

/** Bundles each module to `folder/MODULE.mjs` with the functions' bundling options and the given plugins. */
export function bundle(entryPoints: string[], folder: string, plugins: Plugin[]) {
  const paths = { absWorkingDir: projectRoot, outdir: folder, outExtension: { '.js': '.mjs' } };
  return build({ ...bundlingOptions, ...paths, entryPoints, plugins, logLevel: 'silent' });
}

/**
 * Bundles the baselines to `folder`. Returns the function to measure for each row of the report.
 *
 * @param assembly folder of the CDK assembly that contains the service's functions
 */
export async function prepareFunctions(assembly: string, folder: string, database: StubDatabase) {
  const resources = readTemplate(stackName('staging'), assembly).resources('AWS::Lambda::Function');
  const functions = new Map(resources.map((each) => [handlerModule(each.properties.Handler), each]));
  await bundle(['test/bench/baselines/*.ts'], folder, []);
  return Object.entries(callsFor(database.apiKey)).map(([name, call]): MeasuredFunction => {
    const fn = functions.get(moduleIn(name));
    const environment: Record<string, string> = {
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: 'ACCESS-KEY-OF-BENCH',
      AWS_SECRET_ACCESS_KEY: 'the-secret-access-key-of-the-benchmark',
      AWS_SESSION_TOKEN: 'x'.repeat(900), // typical length of an execution role's token
      HOME: folder, // hides the developer's AWS configuration
      ...database.environment,
      ...fn?.properties.Environment.Variables,
      ...(name.endsWith('16 partitions') && { LIST_PARTITIONS: '16' }),
      // Primed baselines run their request twice during init, as the functions do.
      ...(name.endsWith('primed') && { PRIMING_EVENTS: JSON.stringify([call.event, call.event]) }),
    };
    const file = fn ? bundleIn(assembly, fn) : join(folder, `${moduleIn(name)}.mjs`);
    return { name, file, environment, ...call };
  });
}

/** Returns headers and a request context as in a regional REST API's event for a request from curl. */
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
 * Returns the event and the expected text for each row of the report. Compared rows are adjacent, because the machine's
 * speed drifts. Operations without an entry in `calls` use their documented example requests.
 */
function callsFor(apiKey: string) {
  const event = listEvent({ limit: [`${PAGE.default}`] }, requestWith(apiKey));
  const list = { event, expected: itemId(PAGE.default - 1) };
  const createWith = (headers = {}) => {
    const request = requestWith(apiKey, { 'Content-Type': 'application/json', ...headers });
    return { event: createEvent(validBody, request), expected: '"statusCode":201' };
  };
  const methodArn = `arn:aws:execute-api:${region}:123456789012:abc123/staging/GET${collection}`;
  const calls: Record<string, Pick<MeasuredFunction, 'event' | 'expected'>> = {
    // Expects the newest item, because this page contains only one or two items of each list partition.
    'list-pets, 16 partitions': { ...list, expected: itemId(0) },
    'list-pets': list,
    'bare list': list,
    'bare list, primed': list,
    'create-pet': createWith(),
    'bare create': createWith(),
    'bare create, primed': createWith(),
    'create-pet, idempotent': createWith({ 'Idempotency-Key': '"e1c7d3f2-5f0b-4d7e-9a53-0c1c6d9e8f24"' }),
    authorizer: {
      event: { type: 'TOKEN', authorizationToken: `Bearer ${apiKey}`, methodArn },
      expected: '"Effect":"Allow"',
    },
    'hello world': { ...list, expected: 'world' },
  };
  const { examples } = contract();
  for (const [id, { success }] of Object.entries<Operation>(operations)) {
    const example = exampleEvent(examples[id as OperationId], requestWith(apiKey));
    calls[moduleOf(id)] ??= { event: example, expected: `"statusCode":${success.status}` };
  }
  return calls;
}
