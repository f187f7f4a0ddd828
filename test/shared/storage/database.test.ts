import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  InternalServerError,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { connect, database, isDatabaseUnavailable, readItem } from '../../../shared/storage/database.ts';
import {
  respondWith,
  type Responder,
  nextResponses,
  dropConnection,
  received,
  respondWithError,
} from '../../support/fake-dynamodb.ts';

const details = { message: 'Why.', $metadata: {} };

test('the client has no middleware for logging or the User-Agent header', () => {
  const removed = /^(?:loggerMiddleware|getUserAgentMiddleware)/;
  const [byDefault, actual] = [new DynamoDBClient({ region: 'eu-central-1' }), database].map((client) =>
    client.middlewareStack.identify().filter((name) => removed.test(name)),
  );
  expect(byDefault).toHaveLength(2);
  expect(actual).toEqual([]);
});

describe('isDatabaseUnavailable', () => {
  test.each<[string, Error]>([
    ['throttling', new ThrottlingException(details)],
    ['a server error', new InternalServerError({ ...details, $metadata: { httpStatusCode: 500 } })],
    ['a timeout', Object.assign(new Error('?'), { name: 'TimeoutError' })],
    ['a closed connection', Object.assign(new Error('?'), { code: 'ECONNRESET' })],
  ])('returns true for %s', (_what, error) => {
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  test.each<[string, unknown]>([
    ['a failed condition', new ConditionalCheckFailedException(details)],
    ['a programming error', new TypeError('Cannot read properties of undefined')],
    ['a value that is not an error', { name: 'ThrottlingException' }],
  ])('returns false for %s', (_what, error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});

async function read(): Promise<unknown> {
  return database.send(new GetCommand({ TableName: 'pets', Key: { id: 1n } }));
}

describe('a database call', () => {
  test('has timeouts of 1 s for the connection and 1.5 s for an attempt', async () => {
    nextResponses.push(respondWith(200, {}));
    await read();
    expect((database.config as any).requestHandler.httpHandlerConfigs()).toMatchObject({
      connectionTimeout: 1_000,
      requestTimeout: 1_500,
      throwOnRequestTimeout: true,
    });
  });

  test('makes up to three attempts', async () => {
    const fail = respondWithError(500, 'InternalServerError');
    nextResponses.push(
      fail,
      dropConnection,
      respondWith(200, { Item: { id: { N: '1' } } }),
      fail,
      fail,
      dropConnection,
    );
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    const error = await read().catch((caught: unknown) => caught);
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(error).toHaveProperty('message', 'The database returned no readable response (ECONNRESET).');
    expect(received.map(({ operation }) => operation)).toEqual(Array.from({ length: 6 }, () => 'GetItem'));
  });

  const headers = { 'Content-Length': 40 };
  test.each<[string, Responder, string, string]>([
    ['an empty response', (_, response) => response.end(''), '', 'not a JSON object'],
    ['a truncated response', (_, response) => response.end('{"Item":{"id":{"N":"1"'), '', 'JSON at position'],
    ['a response that is not a JSON object', (_, response) => response.end('null'), '', 'not a JSON object'],
    [
      'a truncated error response',
      (_, response) => response.writeHead(400).end('{"__type":"com.amaz'),
      '',
      'JSON at position',
    ],
    [
      'an interrupted response',
      (_, response) => response.writeHead(200, headers).write('{"Item":', () => response.destroy()),
      ' (ECONNRESET)',
      'aborted',
    ],
  ])('is retried after %s', async (_what, unreadable, code, cause) => {
    nextResponses.push(
      unreadable,
      respondWith(200, { Item: { id: { N: '1' } } }),
      unreadable,
      unreadable,
      unreadable,
    );
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    const error = await read().catch((caught: unknown) => caught);
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(error).toMatchObject({
      message: `The database returned no readable response${code}.`,
      cause: { message: expect.stringContaining(cause) },
    });
    expect(received).toHaveLength(5);
  });

  test('accepts a response in several parts', async () => {
    nextResponses.push((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0' }).write('{"Item":');
      setTimeout(() => response.end('{"id":{"N":"1"}}}'), 50);
    });
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    expect(received).toHaveLength(1);
  });
});

test('readItem can read from a database with a different region and different credentials', async () => {
  const other = connect({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'none' },
  });
  nextResponses.push(respondWith(500, {}), respondWith(200, { Item: { id: { N: '1' } } }));
  expect(await readItem('pets', { id: 1n }, other)).toEqual({ id: 1n });
  const credential = expect.stringMatching(/ Credential=AKID\/\d+\/eu-west-1\//);
  expect(received.map(({ headers }) => headers.authorization)).toEqual([credential, credential]);
});

test('endpoint discovery is disabled, because the bundles do not contain its cache', async () => {
  expect(await (database.config as any).endpointDiscoveryEnabled()).toBe(false);
});
