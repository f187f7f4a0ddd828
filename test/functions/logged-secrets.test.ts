import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { randomInt } from 'node:crypto';
import { inspect } from 'node:util';
import { handler as authorize } from '../../functions/authorizer.ts';
import { handler as createPet } from '../../functions/create-pet.ts';
import { handler as getPet } from '../../functions/get-pet.ts';
import { handler as listPets } from '../../functions/list-pets.ts';
import { generateApiKey } from '../../shared/api-keys.ts';
import { loggable, logger } from '../../shared/telemetry.ts';
import { apiGatewayEvent, listEvent, REQUEST_ID } from '../support/api-gateway-event.ts';
import { invoke } from '../support/invoke.ts';
import { logLines, written } from '../support/log-lines.ts';
import { functionsEnvironment, mock, setEnvironment } from '../support/mocked-database.ts';

// The functions' logs must never contain API keys, headers, queries or bodies. These tests send unique values and search
// all output for parts of the values. test/stack/access-log.test.ts checks what API Gateway logs.

/** Returns a unique text of letters and digits. */
const mark = (): string => generateApiKey('staging').slice(-24);

const secrets = {
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
function findSecrets(text: string): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const withoutPrefix = secret.replace(/^.+_/, ''); // The prefix of API keys is public.
    // A short fragment of a number could occur in a timestamp by chance.
    const length = name === 'integer' ? 15 : 9;
    const fragments = Array.from({ length: withoutPrefix.length - length + 1 }, (_, start) =>
      withoutPrefix.slice(start, start + length),
    );
    return fragments.flatMap(encodingsOf).some((code) => text.includes(code)) ? [name] : [];
  });
}

/**
 * Returns a fragment as text, hexadecimal bytes, decimal bytes and Base64. The length must be a multiple of three, so
 * that the fragment's Base64 has no padding and can be a part of a longer text's Base64.
 */
function encodingsOf(fragment: string): string[] {
  const bytes = Buffer.from(fragment);
  return [fragment, bytes.toString('hex'), bytes.join(','), bytes.toString('base64')];
}

const { text, integer, unknownField, header, idempotencyKey, query, key, otherKey } = secrets;
const pet = JSON.stringify({ name: text, categoryId: 7, status: 'sold', unknownField }).replace(
  ':7',
  `:${integer}`,
);
const authorizer = { keyId: 'key_1', firstKeyId: 'key_1', canWrite: 'true' };

/** Returns an event that has secrets in its headers, also in those that API Gateway and the service ignore. */
function eventWith(event: Partial<APIGatewayProxyEvent>, headers: Record<string, string> = {}) {
  const everywhere = {
    Authorization: `Bearer ${key}`,
    Cookie: `session=${header}`,
    'User-Agent': header,
    'X-Api-Key': otherKey,
  };
  const requestContext = { authorizer, identity: { userAgent: header } as never };
  return apiGatewayEvent({ ...event, requestContext, headers: { ...everywhere, ...headers } });
}

const valid = {
  listPets: { handler: listPets, event: eventWith({}) },
  createPet: {
    handler: createPet,
    event: eventWith({ httpMethod: 'POST', body: pet }, { 'Idempotency-Key': idempotencyKey }),
  },
  getPet: { handler: getPet, event: eventWith({ pathParameters: { petId: '42' } }) },
};

const wrongQueries = [
  { [query]: '1', api_key: key, Authorization: `Bearer ${otherKey}` },
  { limit: query },
  { cursor: query },
];
const wrongBodies = [
  text,
  pet.slice(0, -20),
  `["${text}"]`,
  `${'['.repeat(30_000)}"${text}"`,
  JSON.stringify({ name: [unknownField], categoryId: text, status: unknownField }),
  `{"${key}":"${text}","other":"${otherKey}"}`,
  pet.padEnd(70_000),
];
const wrongHeaders = [
  { 'Idempotency-Key': `"${idempotencyKey}` },
  { 'Idempotency-Key': idempotencyKey.repeat(11) },
  { 'Content-Type': `text/${header}` },
];
const invalid = [
  ...wrongQueries.map((values) => {
    const parameters = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
    return { handler: listPets, event: { ...valid.listPets.event, ...multiValues(parameters) } };
  }),
  ...wrongBodies.map((body) => ({ handler: createPet, event: eventWith({ httpMethod: 'POST', body }) })),
  ...wrongHeaders.map((headers) => ({
    handler: createPet,
    event: eventWith({ httpMethod: 'POST', body: pet }, headers),
  })),
  { handler: getPet, event: eventWith({ pathParameters: { petId: query } }) },
];

function multiValues(parameters: Record<string, string[]>) {
  const { queryStringParameters, multiValueQueryStringParameters } = listEvent(parameters);
  return { queryStringParameters, multiValueQueryStringParameters };
}

setEnvironment(functionsEnvironment);

const failure = (members: object): Error => Object.assign(new Error('No.'), members);

describe('the logs contain no data from a request', () => {
  test('if the request is rejected', async () => {
    for (const { handler, event } of invalid)
      expect((await invoke(handler, event)).status.toString()).toMatch(/^4/);
    expect(written().match(/"ErrorResponses":1/g)).toHaveLength(invalid.length);
    expect(findSecrets(written())).toEqual([]);
  });

  test.each(Object.entries(valid))(
    'except the request id if the database fails with an error that quotes it (%s)',
    async (_id, { handler, event }) => {
      mock.onAnyCommand().callsFake(async (input) => {
        throw new SyntaxError(`${inspect(input, false, 9)} ${inspect(secrets)}`);
      });
      expect((await invoke(handler, event)).status).toBe(500);
      expect(logLines()).toEqual([expect.objectContaining({ requestId: REQUEST_ID })]);
      expect(findSecrets(written())).toEqual([]);
    },
  );

  test('if the authorizer throws, because Lambda logs the error with all its properties', async () => {
    mock.onAnyCommand().callsFake(async (input) => {
      throw Object.assign(new Error(inspect(input, { depth: Infinity })), { input });
    });
    const event = {
      type: 'TOKEN',
      authorizationToken: `Bearer ${key}`,
      methodArn: 'arn:aws:execute-api/a/b/c',
    } as const;
    const thrown: unknown = await authorize(event).catch((error: unknown) => error);
    const logged = written() + inspect(thrown, { depth: Infinity }) + JSON.stringify(thrown);
    expect(logged).toContain("TableName: 'API_KEYS_TABLE'");
    expect(findSecrets(logged)).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['an error with additional properties', failure({ Item: text, $response: { body: text } })],
    ['an AggregateError', Object.assign(new AggregateError([new Error(text)]), { port: 443 })],
    ['an error with a toJSON method', failure({ toJSON: () => text })],
    ['an error with a cause', failure({ cause: failure({ cause: new SyntaxError(text), text }) })],
    ['an error whose cause is an object', failure({ cause: { message: text } })],
    ['an object', { message: text, stack: text }],
  ])('if a function logs %s', (_what, thrown) => {
    logger().error('A message', { error: loggable(thrown) });
    expect(written()).toContain('A message');
    expect(findSecrets(written())).toEqual([]);
  });
});
