import { describe, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { inspect } from 'node:util';
import { handler as authorize } from '../../functions/authorizer.ts';
import { collections, type OperationId, operations } from '../../shared/contract/operations.ts';
import { generateApiKey } from '../../shared/api-keys.ts';
import { loggable, logger } from '../../shared/telemetry.ts';
import { apiGatewayEvent, REQUEST_ID } from '../support/api-gateway-event.ts';
import { operationTests } from '../collections/all.ts';
import { contract } from '../support/contract.ts';
import { handlerOf, invoke } from '../support/invoke.ts';
import { startLocalService } from '../support/local-service.ts';
import { logLines, written } from '../support/log-lines.ts';
import { functionsEnvironment, mock, setEnvironment } from '../support/mocked-database.ts';
import type { MarkedRequest, Secrets } from '../support/collection-tests.ts';

type SentRequest = MarkedRequest & { method: string; path: string };

// The access log and the functions' logs must never contain API keys, headers, queries or bodies. These tests send
// unique values and search all output for the values.

/** Returns a unique text of letters and digits. */
const mark = (): string => generateApiKey('staging').slice(-24);

const secrets: Secrets = {
  key: generateApiKey('staging'),
  otherKey: generateApiKey('staging'),
  text: mark(),
  integer: `9${Array.from({ length: 17 }, () => randomInt(10)).join('')}`,
  unknownField: mark(),
  header: mark(),
  idempotencyKey: mark(),
  query: mark(),
};

/** Returns the names of the secrets of which `text` contains a fragment, because error messages can quote fragments. */
function findSecrets(text: string, among: Record<string, string> = secrets): string[] {
  return Object.keys(among).filter((name) => {
    const withoutPrefix = among[name]!.replace(/^.+_/, ''); // The prefix of API keys is public.
    // A short fragment of a number could occur in a timestamp by chance.
    const fragments = fragmentsOf(withoutPrefix, name === 'integer' ? 15 : 9);
    return fragments.flatMap(encodingsOf).some((code) => text.includes(code));
  });
}

/** Returns all parts of the text with the given length. */
function fragmentsOf(text: string, length: number): string[] {
  const count = text.length - length + 1;
  return Array.from({ length: count }, (_, start) => text.slice(start, start + length));
}

/**
 * Returns a fragment as text, hexadecimal bytes, decimal bytes and Base64. The length must be a multiple of three, so
 * that the fragment's Base64 has no padding and can be a part of a longer text's Base64.
 */
function encodingsOf(fragment: string): string[] {
  const bytes = Buffer.from(fragment);
  return [fragment, bytes.toString('hex'), bytes.join(','), bytes.toString('base64')];
}

const marked = (Object.keys(operationTests) as OperationId[]).map((id) => ({
  id,
  requests: operationTests[id].markedRequests(secrets),
}));
const { examples } = contract();

const markedHeaders = {
  'Content-Type': 'application/json',
  Cookie: `session=${secrets.header}`,
  'User-Agent': secrets.header,
  'X-Api-Key': secrets.otherKey,
};

// The functions log caught errors with `loggable`, which must omit text from requests.
const quoted = secrets.text;
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

describe('if the database fails,', () => {
  setEnvironment(functionsEnvironment);

  test.each(marked)('$id logs no data from a request except the request id', async ({ id, requests }) => {
    mock.onAnyCommand().callsFake(async (input) => {
      throw new SyntaxError(`${inspect(input, false, 9)} ${inspect(secrets)}`);
    });
    const handler = await handlerOf(id);
    const successful = requests.filter(({ status }) => status < 300);
    for (const { query = {}, headers, body = null } of successful) {
      const event = apiGatewayEvent({
        pathParameters: examples[id].pathParameters,
        queryStringParameters: query,
        headers: { Authorization: `Bearer ${secrets.key}`, ...markedHeaders, ...headers },
        body,
        requestContext: {
          authorizer: { keyId: 'key_1', firstKeyId: 'key_1', canWrite: 'true' },
          identity: { userAgent: secrets.header } as never,
        },
      });
      expect((await invoke(handler, event)).status).toBe(500);
    }
    expect(logLines()).not.toEqual([]);
    expect(logLines()).toEqual(successful.map(() => expect.objectContaining({ requestId: REQUEST_ID })));
    expect(findSecrets(written())).toEqual([]);
  });

  test('the authorizer throws an error that does not contain the API key', async () => {
    mock.onAnyCommand().callsFake(async (input) => {
      throw Object.assign(new Error(inspect(input, { depth: Infinity })), { input });
    });
    const authorizationToken = `Bearer ${secrets.key}`;
    const methodArn = 'arn:aws:execute-api/a/b/c';
    const event = { type: 'TOKEN', authorizationToken, methodArn } as const;
    // Lambda logs a thrown error with all its enumerable properties.
    const thrown: unknown = await authorize(event).catch((error: unknown) => error);
    const logged = written() + inspect(thrown, { depth: Infinity }) + JSON.stringify(thrown);
    expect(logged).toContain("TableName: 'API_KEYS_TABLE'");
    expect(findSecrets(logged)).toEqual([]);
  });
});

/** Body of the requests that API Gateway rejects without invoking an operation's function. */
const body = JSON.stringify(secrets);
const gatewayRequests = [
  { status: 404, path: '/v1/elsewhere' },
  { status: 405, method: 'PUT' },
  { status: 413, body: body.padEnd(11_000_000) },
  { status: 401, headers: { Authorization: `Bearer ${secrets.otherKey}` } },
  { status: 401, headers: { Authorization: `Basic ${secrets.header}` } },
].map((request) => ({ method: 'POST', path: collections[0].path, body, ...request }));

test('the local service with --verbose prints no secret except its API key at the start', async () => {
  const service = await startLocalService('--verbose');
  const { baseUrl, apiKey } = service;
  const [banner] = await service.printed(/^[^]*Not run locally:\n/);
  const functionRequests = marked.flatMap(({ id, requests }) =>
    requests.map((request) => ({ ...operations[id], ...request })),
  );
  try {
    let stored = '';
    for (const request of [...functionRequests, ...gatewayRequests]) {
      const { status, method, path, pathParameters = {}, query = {} }: SentRequest = request;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => pathParameters[name] ?? stored);
      const target = new URL(filled, baseUrl);
      target.search = new URLSearchParams(query).toString();
      const headers = { Authorization: `Bearer ${apiKey}`, ...markedHeaders, ...request.headers };
      const response = await fetch(target, { method, headers, body: request.body ?? null });
      expect({ request, status: response.status }).toEqual({ request, status });
      // A collection's creates precede its gets, so a get uses an id of its own collection.
      stored = /"id":(\d+)/.exec(await response.text())?.[1] ?? stored;
    }
  } finally {
    await service.stop();
  }
  expect(banner).toContain(`\n  API key   ${apiKey}\n`);
  const printed = service.output().slice(banner.length);
  const failing = functionRequests.filter(({ status }) => status >= 400);
  expect(printed.match(/"ErrorResponses":1/g)).toHaveLength(failing.length);
  expect(findSecrets(printed, { ...secrets, apiKey })).toEqual([]);
});
