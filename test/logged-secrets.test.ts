import { ConditionalCheckFailedException, QueryCommand } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { type OperationId, operations } from '../shared/contract/operations.ts';
import { apiGatewayEvent, REQUEST_ID } from './support/api-gateway-event.ts';
import { sharedSynthesis } from './support/assembly.ts';
import { handlerOf, invoke } from './support/invoke.ts';
import { type LocalService, startLocalService } from './support/local-service.ts';
import { logLines, written } from './support/log-lines.ts';
import { rowOf } from './support/operations.ts';
import { findSecrets, secrets } from './support/marked-values.ts';
import { mock, setEnvironment } from './support/mocked-database.ts';
import { sendBytes } from './support/raw-http.ts';

// Logs must never contain a key, an Authorization header, a query or a body. These tests send unique values and search
// all output for the values.

/** A request and the expected status of its response. If `petId` is omitted, the id of a stored pet is used. */
interface Call {
  status: number;
  petId?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
}

const pet = `{"name":"${secrets.name}","categoryId":${secrets.categoryId},"note":"${secrets.member}"}`;
const fail = (input: unknown) => Promise.reject(new SyntaxError(`${inspect(input, false, 9)} ${pet}`));
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
const handlers = Object.fromEntries(
  await Promise.all(operationIds.map(async (id) => [id, await handlerOf(id)])),
);

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

test.each<[string, (text: string) => unknown]>([
  ['plain text', (text) => text],
  ['a buffer', (text) => ({ rawPacket: Buffer.from(text) })],
  ['a buffer in JSON', (text) => JSON.stringify(Buffer.from(text))],
  ['hexadecimal digits', (text) => Buffer.from(text).toString('hex')],
  ['base64', (text) => Buffer.from(`a${text}`).toString('base64')],
])('the search for marked values finds fragments written as %s', (_what, encode) => {
  for (const secret of Object.values(secrets)) console.log(encode(secret.slice(-18)));
  expect(findSecrets(written())).toEqual(Object.keys(secrets));
});

/** Invokes an operation's function and returns the status of the response. */
async function send(id: OperationId, call: Call, encoding: 'utf8' | 'base64'): Promise<number> {
  const { method, path } = operations[id];
  const { petId = '42', query = markedQuery, body } = call;
  const values = Object.entries(query).map(([name, value]) => [name, [value]]);
  const event = apiGatewayEvent({
    httpMethod: method,
    path: path.replace('{petId}', petId),
    pathParameters: { petId },
    queryStringParameters: query,
    multiValueQueryStringParameters: Object.fromEntries(values),
    headers: { Authorization: `Bearer ${secrets.key}`, ...markedHeaders, ...call.headers },
    body: body === undefined ? null : Buffer.from(body).toString(encoding),
    isBase64Encoded: encoding === 'base64',
    requestContext: { authorizer: { keyId: 'key_1' }, identity: { userAgent: secrets.header } as never },
  });
  return (await invoke(handlers[id], event)).status;
}

describe.each(operationIds)('the output of %s', (id) => {
  setEnvironment({
    STAGE: 'staging',
    API_KEYS_TABLE: 'keys',
    PETS_TABLE: 'pets',
    INTENTS_TABLE: 'intents',
    LIST_PARTITIONS: '1',
  });

  test('contains no value from a request', async () => {
    const item = { id: 42n, name: secrets.name, categoryId: BigInt(secrets.categoryId) };
    const stored = new Map<unknown, object>([[42n, item]]);
    mock.on(PutCommand).callsFake(({ Item }) => {
      const key = Item.id ?? Item.token;
      if (stored.has(key)) throw new ConditionalCheckFailedException({ message: pet, $metadata: {} });
      stored.set(key, Item);
    });
    mock.on(GetCommand).callsFake(({ Key }) => ({ Item: stored.get(Key.id ?? Key.token) }));
    mock.on(QueryCommand).resolves({ Items: [marshall(item)] });
    for (const call of callsOf(id)) {
      expect({ ...call, status: await send(id, call, 'utf8') }).toEqual(call);
      expect({ ...call, status: await send(id, call, 'base64') }).toEqual(call);
    }
    expect(findSecrets(written())).toEqual([]);
  });

  test('identifies a request only by its id if the database fails', async () => {
    mock.onAnyCommand().callsFake(fail);
    const reading = callsOf(id).filter(({ status }) => status < 300);
    for (const call of reading) expect(await send(id, call, 'utf8')).toBe(500);
    expect(logLines()).toEqual(reading.map(() => expect.objectContaining({ requestId: REQUEST_ID })));
    expect(findSecrets(written())).toEqual([]);
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

/** First lines of invalid or unusual requests. */
const oddHeads = [
  secrets.key,
  `CONNECT ${secrets.header}:80 HTTP/1.1`,
  `GET /v1/pets HTTP/1.1\r\nX ${secrets.header}: ${secrets.key}`,
  `GET /v1/pets HTTP/1.1\r\nX: ${secrets.header.repeat(500)}`,
  `GET http://user:${secrets.key}@localhost/v1/pets?a=${secrets.query} HTTP/1.1`,
];

async function sendEverything({ baseUrl, apiKey }: LocalService): Promise<void> {
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
  const rest = `\r\nAuthorization: Bearer ${apiKey}\r\nConnection: close\r\n\r\n`;
  for (const head of oddHeads) await sendBytes(Number(new URL(baseUrl).port), head + rest);
}

test('the local service with --verbose prints no secret except its API key at the start', async () => {
  const { assembly } = await sharedSynthesis();
  const service = await startLocalService('--verbose', '--assembly', assembly);
  const { apiKey } = service;
  try {
    await sendEverything(service);
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
