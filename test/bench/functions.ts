import { build } from 'esbuild';
import { join } from 'node:path';
import { projectRoot } from '../../infra/command.ts';
import { bundleFunctions, bundlingOptions } from '../../infra/stack/bundling.ts';
import { apiGatewayEvent, createEvent, listEvent } from '../support/api-gateway-event.ts';
import type { FigureName } from './report.ts';
import { petId, type StubDatabase } from './stub-database.ts';

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
  /** All measured values. */
  samples: Record<FigureName, number[]>;
}

const PET = '{"name":"Rex","categoryId":7,"status":"available"}';
const KEY_ID = 'key_01JD8Z2V5W';

/** Bundles the functions and the minimal functions to `folder`. Returns the function to measure for each row. */
export async function prepareFunctions(folder: string, database: StubDatabase): Promise<MeasuredFunction[]> {
  const bundles = await bundleFunctions(folder);
  await build({
    ...bundlingOptions,
    alias: {},
    absWorkingDir: projectRoot,
    entryPoints: ['test/bench/baselines/*.ts'],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    logLevel: 'silent',
  });
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'ACCESS-KEY-OF-BENCH',
    AWS_SECRET_ACCESS_KEY: 'the-secret-access-key-of-the-benchmark',
    AWS_SESSION_TOKEN: 'x'.repeat(900), // typical length of an execution role's token
    HOME: folder, // hides the developer's AWS configuration
    STAGE: 'staging',
    PETS_TABLE: 'Pets',
    IDEMPOTENCY_TABLE: 'IdempotencyRecords',
    API_KEYS_TABLE: 'ApiKeys',
    POWERTOOLS_SERVICE_NAME: 'pet-store-staging',
    ...database.environment,
  };
  return rowsFor(database.apiKey).map(({ name, module, event, expected, isPrimed, warmSizes = [] }) => ({
    name,
    file: bundles.get(module) ?? join(folder, `${module}.mjs`),
    environment: { ...environment, ...(isPrimed && { PRIMING_EVENTS: JSON.stringify([event, event]) }) },
    event,
    expected,
    warmSizes,
    samples: {},
  }));
}

type Row = Pick<MeasuredFunction, 'name' | 'event' | 'expected'> & {
  /** Name of a module in `functions` or `test/bench/baselines`. */
  module: string;
  /** Whether a baseline runs its request twice during init, as the service's functions do. @default false */
  isPrimed?: boolean;
  /** @default - not measured warm, because priming affects only cold starts */
  warmSizes?: number[];
};

/** Returns the rows of the report. Compared rows are adjacent, because the machine's speed drifts. */
function rowsFor(apiKey: string): Row[] {
  const path = '/v1/pets';
  const id = petId(0);
  const lists = {
    event: listEvent({ limit: ['20'] }, { path, ...requestWith(apiKey) }),
    expected: petId(19),
  };
  const createWith = (headers = {}) => ({
    event: createEvent(PET, {
      path,
      ...requestWith(apiKey, { 'Content-Type': 'application/json', ...headers }),
    }),
    expected: '"statusCode":201',
  });
  const creates = createWith();
  const idempotentCreates = createWith({ 'Idempotency-Key': '"e1c7d3f2-5f0b-4d7e-9a53-0c1c6d9e8f24"' });
  const gets = {
    event: apiGatewayEvent({
      resource: '/v1/pets/{petId}',
      path: `/v1/pets/${id}`,
      pathParameters: { petId: id },
      ...requestWith(apiKey),
    }),
    expected: '"statusCode":200',
  };
  const authorization = {
    event: {
      type: 'TOKEN',
      authorizationToken: `Bearer ${apiKey}`,
      methodArn: 'arn:aws:execute-api:us-east-1:123456789012:abc123/staging/GET/v1/pets',
    },
    expected: '"Effect":"Allow"',
  };
  const hello = { event: lists.event, expected: 'world' };
  const warmSizes = [256, 512, 1_024];
  const primed = { isPrimed: true, warmSizes: [512] };
  return [
    { name: '`list-pets`', module: 'list-pets', ...lists, warmSizes },
    { name: 'no SDK, list, primed', module: 'no-sdk-list', ...lists, ...primed },
    { name: 'no SDK, list', module: 'no-sdk-list', ...lists },
    { name: 'bare SDK, list, primed', module: 'bare-list', ...lists, ...primed },
    { name: 'bare SDK, list', module: 'bare-list', ...lists },
    { name: '`create-pet`', module: 'create-pet', ...creates, warmSizes },
    { name: 'bare SDK, create, primed', module: 'bare-create', ...creates, ...primed },
    { name: 'bare SDK, create', module: 'bare-create', ...creates },
    { name: '`create-pet`, idempotent', module: 'create-pet', ...idempotentCreates, warmSizes: [512] },
    { name: '`get-pet`', module: 'get-pet', ...gets, warmSizes },
    { name: '`authorizer`', module: 'authorizer', ...authorization, warmSizes },
    { name: 'hello world', module: 'hello-world', ...hello, warmSizes: [512] },
  ];
}

/** Returns headers and a request context as in a REST API's event for a request from curl. */
function requestWith(apiKey: string, headers = {}) {
  const authorization = { Accept: '*/*', Authorization: `Bearer ${apiKey}`, 'User-Agent': 'curl/8.14.1' };
  return {
    headers: { ...authorization, ...headers, 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https' },
    requestContext: {
      authorizer: { keyId: KEY_ID, firstKeyId: KEY_ID, canWrite: 'true', principalId: KEY_ID },
    },
  };
}
