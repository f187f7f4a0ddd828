import { build } from 'esbuild';
import { join, parse } from 'node:path';
import { projectRoot } from '../../infra/command.ts';
import { bundleIn } from '../../infra/local/emulator/lambda/lambda.ts';
import { region } from '../../infra/local/emulator/template/intrinsics.ts';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { bundlingOptions } from '../../infra/stack/bundling.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { collections } from '../../shared/contract/operations.ts';
import { moduleName, stackName } from '../../shared/names.ts';
import { collectionTests } from '../collections/all.ts';
import { apiGatewayEvent, createEvent, listEvent, STAGE_DOMAIN } from '../support/api-gateway-event.ts';
import { itemId, type StubDatabase } from './stub-database.ts';

/** The collection whose functions are measured. */
const [collection] = collections;
const { list, create, get } = collection.operations;
const listModule = moduleName(list.id);
const createModule = moduleName(create.id);
const getModule = moduleName(get.id);

/** Names of rows of the report. */
const listRow = `\`${listModule}\``;
const createRow = `\`${createModule}\``;

/** Names of the rows to compare. */
export const comparisons = [
  { name: listRow, baseline: 'no SDK, list, primed' },
  { name: listRow, baseline: 'bare SDK, list, primed' },
  { name: listRow, baseline: 'bare SDK, list' },
  { name: createRow, baseline: 'bare SDK, create, primed' },
  { name: createRow, baseline: 'bare SDK, create' },
];

/** A bundled function with the event to invoke it with. */
export interface MeasuredFunction {
  /** Name of the function's row in the report, in Markdown. */
  name: string;
  /** Path of the bundle, which exports `handler`. */
  file: string;
  environment: Record<string, string>;
  event: object;
  /** Text in the JSON of a correct result. */
  expected: string;
  /** Memory sizes in MB at which to measure warm requests. Cold starts of all functions are measured. */
  warmSizes: number[];
}

/** A row of the report before its function is bundled. */
type Row = Pick<MeasuredFunction, 'name' | 'event' | 'expected'> & {
  /** Name of a module in `functions` or `test/bench/baselines`. */
  module: string;
  /** Environment variables that differ from staging's. */
  environment?: Record<string, string>;
  /** Whether a baseline runs its request twice during init, as the service's functions do. @default false */
  isPrimed?: boolean;
  warmSizes?: number[];
};

/**
 * Bundles the baselines to `folder`. Returns the function to measure for each row of the report.
 *
 * @param assembly folder of the CDK assembly that contains the service's functions
 */
export async function prepareFunctions(
  assembly: string,
  folder: string,
  database: StubDatabase,
): Promise<MeasuredFunction[]> {
  await build({
    ...bundlingOptions,
    alias: {},
    absWorkingDir: projectRoot,
    entryPoints: ['test/bench/baselines/*.ts'],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    logLevel: 'silent',
  });
  const resources = readTemplate(stackName('staging'), assembly).resources('AWS::Lambda::Function');
  const functions = new Map(resources.map((each) => [parse(each.properties.Handler).name, each]));
  return rowsFor(database.apiKey).map(
    ({ name, module, event, expected, environment, isPrimed, warmSizes = [] }) => {
      const fn = functions.get(module);
      return {
        name,
        file: fn ? bundleIn(assembly, fn) : join(folder, `${module}.mjs`),
        environment: {
          AWS_REGION: region,
          AWS_ACCESS_KEY_ID: 'ACCESS-KEY-OF-BENCH',
          AWS_SECRET_ACCESS_KEY: 'the-secret-access-key-of-the-benchmark',
          AWS_SESSION_TOKEN: 'x'.repeat(900), // typical length of an execution role's token
          HOME: folder, // hides the developer's AWS configuration
          ...database.environment,
          ...fn?.properties.Environment.Variables,
          ...environment,
          ...(isPrimed && { PRIMING_EVENTS: JSON.stringify([event, event]) }),
        },
        event,
        expected,
        warmSizes,
      };
    },
  );
}

/** Returns the rows of the report. Compared rows are adjacent, because the machine's speed drifts. */
function rowsFor(apiKey: string): Row[] {
  const item = stringifyJson(collectionTests[collection.plural].newItem('Rex'));
  const lists = {
    event: listEvent({ limit: [`${PAGE.default}`] }, { path: list.path, ...requestWith(apiKey) }),
    expected: itemId(PAGE.default - 1),
  };
  const createWith = (headers = {}) => {
    const request = requestWith(apiKey, { 'Content-Type': 'application/json', ...headers });
    return { event: createEvent(item, { path: create.path, ...request }), expected: '"statusCode":201' };
  };
  const creates = createWith();
  const idempotentCreates = createWith({ 'Idempotency-Key': '"e1c7d3f2-5f0b-4d7e-9a53-0c1c6d9e8f24"' });
  const [idParameter = ''] = Object.keys(get.request.path.entries);
  const id = itemId(0);
  const gets = {
    event: apiGatewayEvent({
      resource: get.path,
      path: get.path.replace(`{${idParameter}}`, id),
      pathParameters: { [idParameter]: id },
      ...requestWith(apiKey),
    }),
    expected: '"statusCode":200',
  };
  const authorization = {
    event: {
      type: 'TOKEN',
      authorizationToken: `Bearer ${apiKey}`,
      methodArn: `arn:aws:execute-api:${region}:123456789012:abc123/staging/GET${list.path}`,
    },
    expected: '"Effect":"Allow"',
  };
  const allSizes = [256, 512, 1_024];
  // Baselines without priming are not measured warm, because priming affects only cold starts.
  const primed = { isPrimed: true, warmSizes: [512] };
  const noSdk = {
    module: 'no-sdk-list',
    environment: { FIELDS: Object.keys(collection.item.entries).join() },
  };
  return [
    { name: listRow, module: listModule, ...lists, warmSizes: allSizes },
    { name: 'no SDK, list, primed', ...noSdk, ...lists, ...primed },
    { name: 'no SDK, list', ...noSdk, ...lists },
    { name: 'bare SDK, list, primed', module: 'bare-list', ...lists, ...primed },
    { name: 'bare SDK, list', module: 'bare-list', ...lists },
    { name: createRow, module: createModule, ...creates, warmSizes: allSizes },
    { name: 'bare SDK, create, primed', module: 'bare-create', ...creates, ...primed },
    { name: 'bare SDK, create', module: 'bare-create', ...creates },
    {
      name: `${createRow}, idempotent`,
      module: createModule,
      ...idempotentCreates,
      warmSizes: [512],
    },
    { name: `\`${getModule}\``, module: getModule, ...gets, warmSizes: allSizes },
    { name: '`authorizer`', module: 'authorizer', ...authorization, warmSizes: allSizes },
    { name: 'hello world', module: 'hello-world', event: lists.event, expected: 'world', warmSizes: [512] },
  ];
}

const KEY_ID = 'key_01JD8Z2V5W';

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
    requestContext: {
      authorizer: { keyId: KEY_ID, firstKeyId: KEY_ID, canWrite: 'true', principalId: KEY_ID },
    },
  };
}
