import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  InternalServerError,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import {
  connect,
  createClient,
  database,
  isUnavailable,
  readItem,
} from '../../../shared/storage/database.ts';
import { sdkSettings } from '../../../shared/storage/sdk.ts';
import {
  respondWith,
  type Responder,
  nextResponses,
  dropConnection,
  received,
  respondWithError,
} from './fake-dynamodb.ts';

const details = { message: 'Why.', $metadata: {} };
const Item = { id: { N: '1' } };
const fail = respondWithError(500, 'InternalServerError');

afterEach(() => {
  jest.restoreAllMocks();
});

async function read(): Promise<unknown> {
  return database.send(new GetCommand({ TableName: 'items', Key: { id: 1n } }));
}

test.each<[boolean, string, unknown]>([
  [true, 'throttling', new ThrottlingException(details)],
  [true, 'a server error', new InternalServerError({ ...details, $metadata: { httpStatusCode: 500 } })],
  [true, 'a timeout', Object.assign(new Error('?'), { name: 'TimeoutError' })],
  [true, 'a closed connection', Object.assign(new Error('?'), { code: 'ECONNRESET' })],
  [false, 'a failed condition', new ConditionalCheckFailedException(details)],
  [false, 'a value that is not an error', { name: 'ThrottlingException' }],
])('isUnavailable returns %s for %s', (expected, _what, error) => {
  expect(isUnavailable(error)).toBe(expected);
});

// The test makes 20 calls, because Node.js makes an object's properties fast only after repeated reads.
test('the SDK copies the configuration of the client from an object with fast properties', async () => {
  setFlagsFromString('--allow-natives-syntax');
  const isFast = runInThisContext('(object) => %HasFastProperties(object)');
  for (let call = 0; call < 20; call += 1) {
    nextResponses.push(respondWith(200, {}));
    await read();
  }
  expect(isFast(database.config)).toBe(true);
});

test('readItem can use other credentials and another region than the environment', async () => {
  const other = connect({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'none' },
  });
  nextResponses.push(respondWith(500, {}), respondWith(200, { Item }));
  expect(await readItem('items', { id: 1n }, other)).toEqual({ id: 1n });
  const credential = expect.stringMatching(/ Credential=AKID\/\d+\/eu-west-1\//);
  expect(received.map(({ headers }) => headers.authorization)).toEqual([credential, credential]);
});

describe('a database call', () => {
  test.each<[string, Responder]>([
    ['start', () => {}],
    ['end', (_, response) => response.write('{"Item":')],
  ])('is retried after 1.5 s if the response does not %s', async (_what, hang) => {
    const { setTimeout } = globalThis;
    let expire: () => void;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation((run, milliseconds) => {
      if (milliseconds === 1_500) expire ??= run;
      return setTimeout(run, milliseconds);
    });
    function hangUntilTimeout(...exchange: Parameters<Responder>): void {
      hang(...exchange);
      expire();
    }
    nextResponses.push(hangUntilTimeout, respondWith(200, { Item }));
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    expect(received).toHaveLength(2);
  });

  test('makes up to three attempts', async () => {
    nextResponses.push(fail, dropConnection, respondWith(200, { Item }), fail, fail, dropConnection);
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    const error = await read().catch((caught: unknown) => caught);
    expect(isUnavailable(error)).toBe(true);
    expect(error).toHaveProperty('message', 'The database returned no readable response (ECONNRESET).');
    expect(received.map(({ operation }) => operation)).toEqual(Array.from({ length: 6 }, () => 'GetItem'));
  });

  test.each<[number, string, Responder]>([
    [75, 'server errors', fail],
    [3_000, 'throttling', respondWithError(400, 'ThrottlingException')],
  ])('pauses for up to %i ms in total after %s', async (longest, _what, response) => {
    const share = 0.2; // of the longest pause, which the SDK multiplies by a random number
    jest.spyOn(Math, 'random').mockReturnValue(share);
    nextResponses.push(response, response, response);
    // The client is new, because a client stops retrying after a number of failed calls.
    const call = createClient().send(new GetItemCommand({ TableName: 'items', Key: Item }));
    await expect(call).rejects.toMatchObject({
      $metadata: { attempts: 3, totalRetryDelay: share * longest },
    });
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
    nextResponses.push(unreadable, respondWith(200, { Item }), unreadable, unreadable, unreadable);
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    const error = await read().catch((caught: unknown) => caught);
    expect(isUnavailable(error)).toBe(true);
    expect(error).toMatchObject({
      message: `The database returned no readable response${code}.`,
      cause: { message: expect.stringContaining(cause) },
    });
    expect(received).toHaveLength(5);
  });

  test('accepts a response in several parts', async () => {
    nextResponses.push((_request, response) => {
      response.write('{"Item":');
      setTimeout(() => response.end('{"id":{"N":"1"}}}'), 50);
    });
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    expect(received).toHaveLength(1);
  });
});

const numbers = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n };
const stored = { minimum: { N: '-9223372036854775808' }, maximum: { N: '9223372036854775807' } };

test('numbers are read exactly over the full int64 range', async () => {
  nextResponses.push(respondWith(200, { Item: stored }));
  expect(await read()).toMatchObject({ Item: numbers });
});

test('requests are identical to those of the unmodified SDK', async () => {
  const byDefault = DynamoDBDocumentClient.from(new DynamoDBClient());
  for (const client of [byDefault, database]) {
    nextResponses.push(respondWith(200, {}), respondWith(200, {}));
    await client.send(new GetCommand({ TableName: 'items', Key: { id: 1n }, ConsistentRead: true }));
    await client.send(
      new PutCommand({ TableName: 'items', Item: { ...numbers, tags: ['a', null], status: undefined } }),
    );
  }
  byDefault.destroy();
  const headers = ['host', 'content-type', 'content-length', 'x-amz-target'];
  const requests = received.map((request) => [request.body, headers.map((name) => request.headers[name])]);
  expect(requests.slice(2)).toEqual(requests.slice(0, 2));
  // The project's signer must sign only these headers, although the SDK also signs others.
  const signed = 'content-type;host;x-amz-date;x-amz-security-token;x-amz-target';
  expect(received.at(-1)?.headers.authorization).toContain(` SignedHeaders=${signed}, `);
});

test('successive calls use the same connection', async () => {
  nextResponses.push(respondWith(200, {}), respondWith(200, {}));
  await read();
  await read();
  expect(new Set(received.map(({ port }) => port)).size).toBe(1);
});

test('signatures are identical to those of the SDK on each day and in each region', async () => {
  const sdk = new SignatureV4({
    service: 'dynamodb',
    region: 'eu-central-1',
    credentials: { accessKeyId: 'none', secretAccessKey: 'none', sessionToken: 'none' },
    sha256: Sha256,
    applyChecksum: false,
  });
  const content = { method: 'POST', hostname: 'localhost', path: '/path', body: '{"TableName":"é"}' };
  const headers = { 'x-amz-target': 'DynamoDB_20120810.GetItem', host: 'localhost', 'content-type': 'a/b' };
  const optionsInOrder = [
    { signingDate: new Date('2026-01-01T23:59:59.999Z'), signingRegion: 'eu-west-1' },
    { signingDate: new Date('2026-01-02') },
    { signingDate: new Date('2026-01-02'), signingRegion: 'eu-west-1' },
    { signingDate: new Date('2026-01-01'), signingRegion: 'eu-west-1' },
  ];
  for (const options of optionsInOrder) {
    const expected = await sdk.sign(new HttpRequest({ ...content, headers }), options);
    // These headers are not signed, because proxies can change them.
    const unsigned = { 'content-length': '21', 'user-agent': 'any' };
    const request = new HttpRequest({ ...content, headers: { ...unsigned, ...headers } });
    const signed = await sdkSettings.signer.sign(request, options);
    expect(signed.headers).toEqual({ ...unsigned, ...expected.headers });
  }
});

test('an error has the name, message and metadata of the DynamoDB response', async () => {
  nextResponses.push(respondWithError(400, 'ResourceNotFoundException'));
  await expect(read()).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
    message: 'Why.',
    $fault: 'client',
    $metadata: { httpStatusCode: 400, requestId: 'VB2K', attempts: 1 },
  });
  nextResponses.push(
    respondWith(400, { __type: 'com.amazon.coral.service#UnrecognizedClientException', Message: 'Why.' }),
  );
  await expect(read()).rejects.toMatchObject({ name: 'UnrecognizedClientException', message: 'Why.' });
  nextResponses.push(...Array.from({ length: 3 }, () => respondWith(500, {})));
  await expect(read()).rejects.toMatchObject({ name: 'Unknown', $fault: 'server' });
});

test('a wrong clock is corrected with the date in an error response', async () => {
  const Date = new globalThis.Date(globalThis.Date.now() + 3_600_000).toUTCString();
  const skewed = respondWithError(400, 'InvalidSignatureException', { Date });
  nextResponses.push(skewed, respondWith(200, {}));
  await read();
  const [first, second] = received.map(({ headers }) => String(headers['x-amz-date']).replace(/\D/g, ''));
  expect(Number(second) - Number(first)).toBeGreaterThan(5_000);
});

test('a retry waits as long as the database requests', async () => {
  const { setTimeout } = globalThis;
  const pauses: number[] = [];
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((run, milliseconds = 0) => {
    const isPause = milliseconds > 4_000;
    if (isPause) pauses.push(milliseconds);
    return setTimeout(run, isPause ? 0 : milliseconds);
  });
  nextResponses.push(
    respondWithError(400, 'ThrottlingException', { 'x-amz-retry-after': '5000' }),
    respondWith(200, {}),
  );
  await read();
  expect(pauses).toEqual([expect.closeTo(5_000, -3)]);
});
