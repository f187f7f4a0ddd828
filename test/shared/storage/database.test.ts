import {
  ConditionalCheckFailedException,
  GetItemCommand,
  InternalServerError,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, database, isUnavailable, readItem } from '../../../shared/storage/database.ts';
import { INT64 } from '../../../shared/contract/limits.ts';
import {
  dropConnection,
  nextResponses,
  received,
  type Responder,
  respondWith,
  respondWithError,
} from './fake-dynamodb.ts';

const details = { message: 'Why.', $metadata: {} };
const Item = { id: { N: '1' } };
const fail = respondWithError(500, 'InternalServerError');

afterEach(() => void jest.restoreAllMocks());

/** Captures the next timer of `duration` ms. The returned function calls the timer's callback immediately. */
function captureTimer(duration: number): () => void {
  const { setTimeout } = globalThis;
  let expire: (() => void) | undefined;
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((run, milliseconds) => {
    if (milliseconds === duration) expire ??= run;
    return setTimeout(run, milliseconds);
  });
  return () => expire!();
}

const timers = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;

async function read(): Promise<unknown> {
  return database.send(new GetCommand({ TableName: 'books', Key: { id: 1n } }));
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

test('readItem uses the credentials and the region of a given client', async () => {
  const other = connect({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'none' },
  });
  nextResponses.push(respondWith(500, {}), respondWith(200, { Item }));
  expect(await readItem('books', { id: 1n }, { from: other })).toEqual({ id: 1n });
  const credential = expect.stringMatching(/ Credential=AKID\/\d+\/eu-west-1\//);
  expect(received.map(({ headers }) => headers.authorization)).toEqual([credential, credential]);
});

describe('a database call', () => {
  test.each<[string, Responder]>([
    ['start', () => {}],
    ['end', (_, response) => response.write('{"Item":')],
  ])('closes its connection and is retried after 1.5 s if the response does not %s', async (_what, hang) => {
    const expire = captureTimer(1_500);
    let closed: Promise<unknown> | undefined;
    function hangUntilTimeout(...[request, response]: Parameters<Responder>): void {
      closed = once(request.socket, 'close');
      hang(request, response);
      expire();
    }
    nextResponses.push(hangUntilTimeout, respondWith(200, { Item }));
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    expect(received).toHaveLength(2);
    await closed;
  });

  test('that exceeds its time limit fails with an error that names the limit', async () => {
    const { setTimeout } = globalThis;
    jest
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation((run, milliseconds) => setTimeout(run, milliseconds === 1_500 ? 1 : milliseconds));
    nextResponses.push(
      () => {},
      () => {},
      () => {},
    );
    await expect(read()).rejects.toThrow('The database sent no whole response (more than 1500 ms).');
  });

  test('of an operator command is retried after 5 s if the response does not start', async () => {
    const expire = captureTimer(5_000);
    nextResponses.push(() => expire(), respondWith(200, { Item }));
    expect(await readItem('books', { id: 1n }, { from: connect() })).toEqual({ id: 1n });
    expect(received).toHaveLength(2);
  });

  test('makes up to three attempts', async () => {
    nextResponses.push(fail, dropConnection, respondWith(200, { Item }), fail, fail, dropConnection);
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    const error = await read().catch((caught: unknown) => caught);
    expect(isUnavailable(error)).toBe(true);
    // The command line recognizes network errors by their code.
    expect(error).toMatchObject({ message: expect.stringContaining('(ECONNRESET)'), code: 'ECONNRESET' });
    expect(received).toHaveLength(6);
  });

  test.each<[number, string, Responder]>([
    [75, 'server errors', fail],
    [3_000, 'throttling', respondWithError(400, 'ThrottlingException')],
  ])('pauses for up to %i ms in total after %s', async (longest, _what, response) => {
    // The SDK multiplies the longest pause by a random number, which is always `share` in this test.
    const share = 0.2;
    jest.spyOn(Math, 'random').mockReturnValue(share);
    nextResponses.push(response, response, response);
    // The call uses a new client, because a client stops retrying after several failed calls.
    const call = connect().send(new GetItemCommand({ TableName: 'books', Key: Item }));
    await expect(call).rejects.toMatchObject({
      $metadata: { attempts: 3, totalRetryDelay: share * longest },
    });
  });

  const headers = { 'Content-Length': 40 };
  test.each<[string, Responder]>([
    ['an empty response', (_, response) => response.end('')],
    [
      'half a response',
      (_, response) => response.writeHead(200, headers).write('{"Item":', () => response.destroy()),
    ],
    ['an error response that is not JSON', (_, response) => response.writeHead(503).end('<html>')],
  ])('is retried after %s', async (_what, incomplete) => {
    nextResponses.push(incomplete, respondWith(200, { Item }), incomplete, incomplete, incomplete);
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    const error = await read().catch((caught: unknown) => caught);
    expect(isUnavailable(error)).toBe(true);
    expect(received).toHaveLength(5);
  });

  test('is not retried if its caller aborts it', async () => {
    const caller = new AbortController();
    nextResponses.push(() => caller.abort());
    const command = new GetItemCommand({ TableName: 'books', Key: Item });
    await expect(connect().send(command, { abortSignal: caller.signal })).rejects.toThrow('aborted');
    expect(received).toHaveLength(1);
  });

  test('accepts a response in two chunks and leaves no timer', async () => {
    nextResponses.push((_request, response) => {
      response.write('{"Item":');
      setTimeout(() => response.end('{"id":{"N":"1"}}}'), 50);
    });
    const timersBefore = timers();
    expect(await read()).toMatchObject({ Item: { id: 1n } });
    expect(received).toHaveLength(1);
    expect(timers()).toBe(timersBefore);
  });
});

test('successive calls use the same connection', async () => {
  nextResponses.push(respondWith(200, {}), respondWith(200, {}));
  await read();
  await read();
  expect(new Set(received.map(({ port }) => port)).size).toBe(1);
});

test('numbers are read exactly over the full int64 range', async () => {
  const [minimum, maximum] = [INT64.minimum, INT64.maximum].map((number) => ({ N: number.toString() }));
  nextResponses.push(respondWith(200, { Item: { minimum, maximum } }));
  expect(await read()).toMatchObject({ Item: INT64 });
});
