import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  InternalServerError,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { database, isDatabaseUnavailable } from '../../../shared/storage/database.ts';
import { listenOnLoopback } from '../../support/loopback.ts';

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

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

function answer(status: number, body: object): Answer {
  return (_request, response) => {
    response
      .writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0', 'x-amzn-RequestId': 'VB2K' })
      .end(JSON.stringify(body));
  };
}

function refuse(status: number, exception: string): Answer {
  return answer(status, { __type: `com.amazonaws.dynamodb.v20120810#${exception}`, message: 'Why.' });
}

function loseAnswer({ socket }: IncomingMessage): void {
  socket.destroy();
}

async function read(): Promise<unknown> {
  return database.send(new GetCommand({ TableName: 'pets', Key: { id: 1n } }));
}

const numbers = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const stored = { least: { N: '-9223372036854775808' }, most: { N: '9223372036854775807' } };

describe('over HTTP', () => {
  const received: { operation: string; headers: IncomingHttpHeaders; body: any }[] = [];
  const answers: Answer[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received.push({
      operation: String(request.headers['x-amz-target']).replace('DynamoDB_20120810.', ''),
      headers: request.headers,
      body: JSON.parse(body),
    });
    answers.shift()?.(request, response);
  });
  const before = { ...process.env };

  beforeAll(async () => {
    const { origin } = await listenOnLoopback(server);
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_DYNAMODB: origin,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
    });
  });

  afterAll(() => {
    process.env = before;
    database.destroy();
    server.closeAllConnections();
    server.close();
  });

  beforeEach(() => {
    received.length = 0;
    answers.length = 0;
  });

  function sent(): string[] {
    return received.map(({ operation }) => operation);
  }

  test('numbers arrive as bigint, exact over the whole of int64', async () => {
    answers.push(answer(200, { Item: stored }));
    expect(await read()).toMatchObject({ Item: numbers });
  });

  test('numbers leave exactly, and a member that is undefined does not leave', async () => {
    answers.push(answer(200, {}));
    const Item = { ...numbers, status: undefined };
    await database.send(new PutCommand({ TableName: 'pets', Item }));
    expect(received[0]?.body.Item).toEqual(stored);
  });

  test('requests are those of the SDK', async () => {
    const byDefault = DynamoDBDocumentClient.from(new DynamoDBClient());
    for (const client of [byDefault, database]) {
      answers.push(answer(200, {}), answer(200, {}));
      await client.send(new GetCommand({ TableName: 'pets', Key: { id: 1n }, ConsistentRead: true }));
      await client.send(new PutCommand({ TableName: 'pets', Item: { ...numbers, tags: ['a', null] } }));
    }
    byDefault.destroy();
    const headers = ['host', 'content-type', 'content-length', 'x-amz-target'];
    const requests = received.map((request) => [request.body, headers.map((name) => request.headers[name])]);
    expect(requests.slice(2)).toEqual(requests.slice(0, 2));
  });

  test('an error has the name, message and metadata that DynamoDB gave it', async () => {
    answers.push(refuse(400, 'ResourceNotFoundException'));
    await expect(read()).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: 'Why.',
      $fault: 'client',
      $metadata: { httpStatusCode: 400, requestId: 'VB2K', attempts: 1 },
    });
    answers.push(
      answer(400, { __type: 'com.amazon.coral.service#UnrecognizedClientException', Message: 'Why.' }),
    );
    await expect(read()).rejects.toMatchObject({ name: 'UnrecognizedClientException', message: 'Why.' });
  });

  test('an attempt may take 1 s to connect, and 1.5 s in all', async () => {
    answers.push(answer(200, {}));
    await read();
    expect((database.config as any).requestHandler.httpHandlerConfigs()).toMatchObject({
      connectionTimeout: 1_000,
      requestTimeout: 1_500,
      throwOnRequestTimeout: true,
    });
  });

  test('a call is tried three times', async () => {
    const fail = refuse(500, 'InternalServerError');
    answers.push(fail, loseAnswer, answer(200, { Item: { id: { N: '1' } } }), fail, fail, loseAnswer);
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    const error = await read().catch((caught: unknown) => caught);
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(error).toHaveProperty('message', 'The database gave no readable answer (ECONNRESET).');
    expect(sent()).toEqual(Array.from({ length: 6 }, () => 'GetItem'));
  });

  test.each([
    ['empty', 200, '', 'no JSON object'],
    ['cut off', 200, '{"Item":{"id":{"N":"1"', 'JSON at position'],
    ['no object', 200, 'null', 'no JSON object'],
    ['an error that is cut off', 400, '{"__type":"com.amaz', 'JSON at position'],
  ])('an answer that is %s is not believed: the call is tried again', async (_what, status, body, cause) => {
    const unreadable: Answer = (_request, response) => {
      response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(body);
    };
    answers.push(unreadable, answer(200, { Item: { id: { N: '1' } } }), unreadable, unreadable, unreadable);
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    const error = await read().catch((caught: unknown) => caught);
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(error).toMatchObject({
      message: 'The database gave no readable answer.',
      cause: { message: expect.stringContaining(cause) },
    });
    expect(sent()).toHaveLength(5);
  });

  test('an answer may end later than it begins', async () => {
    answers.push((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0' }).write('{"Item":');
      setTimeout(() => response.end('{"id":{"N":"1"}}}'), 50);
    });
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    expect(sent()).toHaveLength(1);
  });
});

test('Endpoint discovery is off, because the bundles lack its cache', async () => {
  expect(await (database.config as any).endpointDiscoveryEnabled()).toBe(false);
});
