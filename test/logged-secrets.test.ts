import { describe, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { inspect } from 'node:util';
import { handler as authorize } from '../functions/authorizer.ts';
import { type OperationId, operations } from '../shared/contract/operations.ts';
import { generateApiKey } from '../shared/storage/api-keys.ts';
import { loggable, logger } from '../shared/telemetry.ts';
import { apiGatewayEvent, REQUEST_ID } from './support/api-gateway-event.ts';
import { handlerOf, invoke } from './support/invoke.ts';
import { startLocalService } from './support/local-service.ts';
import { logLines, written } from './support/log-lines.ts';
import { mock, setEnvironment } from './support/mocked-database.ts';
import { rowOf } from './support/operations.ts';

// Logs must never contain a key, an Authorization header, a query or a body. These tests send unique values and search
// all output for the values.

const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
const mark = (): string => Array.from({ length: 24 }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/** Unique values by the part of a request that contains the value. */
const secrets = {
  key: generateApiKey('staging'),
  otherKey: generateApiKey('staging'),
  name: mark(),
  member: mark(),
  categoryId: `9${Array.from({ length: 17 }, () => randomInt(10)).join('')}`,
  header: mark(),
  idempotencyKey: mark(),
  query: mark(),
};

/** Returns the names of the values that occur in `text` completely or as a fragment, in any encoding of a log. */
function findSecrets(text: string, among: Record<string, string> = secrets): string[] {
  return Object.keys(among).filter((name) => {
    const random = among[name]!.replace(/^pets_[a-z]+_/, '');
    // Some error messages quote only a few characters. Timestamps contain short sequences of digits by chance.
    const length = name === 'categoryId' ? 15 : 9;
    const starts = Array.from({ length: random.length - length + 1 }, (_, start) => start);
    return starts.some((start) => {
      const bytes = Buffer.from(random.slice(start, start + length));
      const codes = [bytes.toString(), bytes.toString('hex'), bytes.join(','), bytes.toString('base64')];
      return codes.some((code) => text.includes(code));
    });
  });
}

/** A request and the expected status of its response. If `petId` is omitted, the id of a stored pet is used. */
interface Call {
  status: number;
  petId?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
}

const pet = `{"name":"${secrets.name}","categoryId":${secrets.categoryId},"note":"${secrets.member}"}`;
const withKey = (key: string) => ({ body: pet, headers: { 'Idempotency-Key': key } });

const wrongBodies = [
  '',
  secrets.name,
  pet.slice(0, -20),
  `["${secrets.name}"]`,
  `${'['.repeat(30_000)}"${secrets.name}"`,
  `{"name":${secrets.categoryId},"categoryId":"${secrets.name}","status":"${secrets.member}"}`,
  `{"${secrets.key}":"${secrets.name}","status":"${secrets.otherKey}"}`,
];

/** Requests that contain marked values, by operation. */
const calls: Partial<Record<string, Call[]>> = {
  createPet: [
    { status: 201, body: pet },
    { status: 201, ...withKey(secrets.idempotencyKey) },
    { status: 422, ...withKey(secrets.idempotencyKey), body: pet.replace(secrets.name, secrets.member) },
    { status: 400, ...withKey(`"${secrets.idempotencyKey}`) },
    { status: 400, ...withKey(secrets.idempotencyKey.repeat(11)) },
    ...wrongBodies.map((body) => ({ status: 400, body })),
    { status: 413, body: pet.replace(secrets.name, secrets.name.repeat(3_000)) },
    { status: 415, body: pet, headers: { 'Content-Type': `text/${secrets.header}` } },
  ],
  listPets: [
    { status: 200 },
    { status: 400, query: { limit: secrets.query } },
    { status: 400, query: { cursor: secrets.query } },
  ],
  getPet: [{ status: 200 }, { status: 404, petId: 'none' }],
};
const operationIds = Object.keys(operations) as OperationId[];

const callsOf = (id: OperationId) =>
  rowOf(calls, id, 'add requests with marked values to `calls` in test/logged-secrets.test.ts');

const markedQuery = {
  [secrets.query]: '1',
  api_key: secrets.key,
  Authorization: `Bearer ${secrets.otherKey}`,
};
const markedHeaders = {
  'Content-Type': 'application/json',
  Cookie: `session=${secrets.header}`,
  'User-Agent': secrets.header,
  'X-Api-Key': secrets.otherKey,
};

// Lambda logs all enumerable properties of an error that a function throws, and the functions log what they catch.
const quoted = secrets.name;
const failure = (members: object): Error => Object.assign(new Error('No.'), members);

test.each<[string, unknown]>([
  ['an error with additional properties', failure({ Item: quoted, $response: { body: quoted } })],
  ['an AggregateError', Object.assign(new AggregateError([new Error(quoted)]), { port: 443 })],
  ['an error with a toJSON method', failure({ toJSON: () => quoted })],
  ['an error with a cause', failure({ cause: failure({ cause: new SyntaxError(quoted), quoted }) })],
  ['an error whose cause is an object', failure({ cause: { message: quoted } })],
  ['an object', { message: quoted, stack: quoted }],
])('the log entry for %s contains no text from a request', (_what, thrown) => {
  logger().error('A message', { error: loggable(thrown) });
  expect(written()).toContain('A message');
  expect(findSecrets(written())).toEqual([]);
});

describe('if the database fails', () => {
  const tables = { API_KEYS_TABLE: 'keys', PETS_TABLE: 'pets', INTENTS_TABLE: 'intents' };
  setEnvironment({ STAGE: 'staging', ...tables, LIST_PARTITIONS: '1' });

  test.each(operationIds)('%s identifies a request only by its id', async (id) => {
    mock.onAnyCommand().callsFake(async (input) => {
      throw new SyntaxError(`${inspect(input, false, 9)} ${pet}`);
    });
    const handler = await handlerOf(id);
    const reading = callsOf(id).filter(({ status }) => status < 300);
    for (const { query = markedQuery, headers, body = null } of reading) {
      const event = apiGatewayEvent({
        pathParameters: { petId: '42' },
        queryStringParameters: query,
        headers: { Authorization: `Bearer ${secrets.key}`, ...markedHeaders, ...headers },
        body,
        requestContext: { authorizer: { keyId: 'key_1' }, identity: { userAgent: secrets.header } as never },
      });
      expect((await invoke(handler, event)).status).toBe(500);
    }
    expect(logLines()).toEqual(reading.map(() => expect.objectContaining({ requestId: REQUEST_ID })));
    expect(findSecrets(written())).toEqual([]);
  });

  test('the authorizer throws an error without the API key', async () => {
    mock.onAnyCommand().callsFake(async (input) => {
      throw Object.assign(new Error(inspect(input, { depth: Infinity })), { input });
    });
    const authorizationToken = `Bearer ${secrets.key}`;
    const methodArn = 'arn:aws:execute-api/a/b/c';
    const thrown: unknown = await authorize({ type: 'TOKEN', authorizationToken, methodArn }).catch(
      (error: unknown) => error,
    );
    const logged = written() + inspect(thrown, { depth: Infinity }) + JSON.stringify(thrown);
    expect(logged).toContain("TableName: 'keys'");
    expect(findSecrets(logged)).toEqual([]);
  });
});

/** Requests that API Gateway rejects without invoking a function. */
const gatewayCalls = [
  { status: 404, path: '/v1/elsewhere' },
  { status: 405, path: '/v1/pets', method: 'DELETE' },
  { status: 413, path: '/v1/pets', body: pet.padEnd(11_000_000) },
  { status: 401, path: '/v1/pets', headers: { Authorization: `Bearer ${secrets.otherKey}` } },
  { status: 401, path: '/v1/pets', headers: { Authorization: `Basic ${secrets.header}` } },
].map((call) => ({ method: 'POST', body: pet, ...call }));

test('the local service with --verbose prints no secret except its API key at the start', async () => {
  const service = await startLocalService('--verbose');
  const { baseUrl, apiKey } = service;
  try {
    const functionCalls = operationIds.flatMap((id) =>
      callsOf(id).map((call) => ({ ...operations[id], ...call })),
    );
    let stored = '';
    for (const call of [...functionCalls, ...gatewayCalls] as (Call & { method: string; path: string })[]) {
      const { status, method, path, petId = stored, query = markedQuery, body } = call;
      const target = new URL(path.replace('{petId}', petId), baseUrl);
      target.search = new URLSearchParams(query).toString();
      const headers = { Authorization: `Bearer ${apiKey}`, ...markedHeaders, ...call.headers };
      const response = await fetch(target, { method, headers, ...(body !== undefined && { body }) });
      expect({ call, status: response.status }).toEqual({ call, status });
      stored ||= /"id":(\d+)/.exec(await response.text())?.[1] ?? '';
    }
  } finally {
    await service.stop();
  }
  const [banner, printed] = service.output().split(/(?<=\/pets\n)([^]*)/);
  expect(banner!.split(apiKey)).toHaveLength(3);
  expect(banner).toContain(`\n  API key   ${apiKey}\n`);
  const errorResponse = operationIds.flatMap(callsOf).filter(({ status }) => status >= 400);
  expect(printed!.match(/"ErrorResponses":1/g)).toHaveLength(errorResponse.length);
  expect(findSecrets(printed!, { ...secrets, apiKey })).toEqual([]);
});
