import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  InternalServerError,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { database, isDatabaseUnavailable } from '../../../shared/storage/database.ts';
import {
  respondWith,
  type Responder,
  nextResponses,
  dropConnection,
  received,
  respondWithError,
} from '../../support/fake-dynamodb.ts';

const details = { message: 'Why.', $metadata: {} };

test('the SDK prepares no log lines of calls, and no header that describes it', () => {
  const leftOut = /^(?:loggerMiddleware|getUserAgentMiddleware)/;
  const [byDefault, here] = [new DynamoDBClient({ region: 'eu-central-1' }), database].map((client) =>
    client.middlewareStack.identify().filter((name) => leftOut.test(name)),
  );
  expect(byDefault).toHaveLength(2);
  expect(here).toEqual([]);
});

describe('the database counts as unavailable', () => {
  test.each<[string, Error]>([
    ['it throttles', new ThrottlingException(details)],
    ['it fails', new InternalServerError({ ...details, $metadata: { httpStatusCode: 500 } })],
    ['it does not answer in time', Object.assign(new Error('?'), { name: 'TimeoutError' })],
    ['it ends the connection', Object.assign(new Error('?'), { code: 'ECONNRESET' })],
  ])('when %s', (_when, error) => {
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  test.each<[string, unknown]>([
    ['a condition failed', new ConditionalCheckFailedException(details)],
    ['the code is wrong', new TypeError('Cannot read properties of undefined')],
    ['no error was thrown', { name: 'ThrottlingException' }],
  ])('but not when %s', (_when, error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});

async function read(): Promise<unknown> {
  return database.send(new GetCommand({ TableName: 'pets', Key: { id: 1n } }));
}

describe('over HTTP', () => {
  test('an attempt may take 1 s to connect, and 1.5 s in all', async () => {
    nextResponses.push(respondWith(200, {}));
    await read();
    expect((database.config as any).requestHandler.httpHandlerConfigs()).toMatchObject({
      connectionTimeout: 1_000,
      requestTimeout: 1_500,
      throwOnRequestTimeout: true,
    });
  });

  test('a call is tried three times', async () => {
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
    expect(error).toHaveProperty('message', 'The database gave no readable answer (ECONNRESET).');
    expect(received.map(({ operation }) => operation)).toEqual(Array.from({ length: 6 }, () => 'GetItem'));
  });

  test.each([
    ['empty', 200, '', 'no JSON object'],
    ['cut off', 200, '{"Item":{"id":{"N":"1"', 'JSON at position'],
    ['no object', 200, 'null', 'no JSON object'],
    ['an error that is cut off', 400, '{"__type":"com.amaz', 'JSON at position'],
  ])('an answer that is %s is not believed: the call is tried again', async (_what, status, body, cause) => {
    const unreadable: Responder = (_request, response) => {
      response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(body);
    };
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
      message: 'The database gave no readable answer.',
      cause: { message: expect.stringContaining(cause) },
    });
    expect(received).toHaveLength(5);
  });

  test('an answer may end later than it begins', async () => {
    nextResponses.push((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0' }).write('{"Item":');
      setTimeout(() => response.end('{"id":{"N":"1"}}}'), 50);
    });
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    expect(received).toHaveLength(1);
  });
});

test('Endpoint discovery is off, because the bundles lack its cache', async () => {
  expect(await (database.config as any).endpointDiscoveryEnabled()).toBe(false);
});
