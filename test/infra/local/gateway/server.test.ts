import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { ApiGateway } from '../../../../infra/local/gateway/api-gateway.ts';
import type { HttpRequest, HttpResponse } from '../../../../infra/local/gateway/http-message.ts';
import { type HttpServer, serve } from '../../../../infra/local/gateway/server.ts';
import { sendBytes } from '../../../support/raw-http.ts';

const statusOf: Record<string, number> = { DEFAULT_4XX: 400, DEFAULT_5XX: 500, REQUEST_TOO_LARGE: 413 };

function gatewayResponse(responseType: string): HttpResponse {
  const status = statusOf[responseType]!;
  const body = { code: responseType.toLowerCase(), message: 'Refused.', status };
  return {
    status,
    headers: { 'Content-Type': 'application/json', 'x-amzn-RequestId': 'request-1' },
    body: JSON.stringify(body),
  };
}

/** Responds with the request. */
async function echo({ method, path, query, headers, body }: HttpRequest): Promise<HttpResponse> {
  if (path === '/slow') await setTimeout(20);
  if (path === '/fails') throw new Error('no luck');
  if (path === '/no-content') return { status: 204, headers: { Deprecation: '@0' }, body: '' };
  if (path === '/odd-status') return { status: 9999, headers: {}, body: '' };
  if (path === '/odd-header') return { status: 200, headers: { Odd: 'a\nb' }, body: '' };
  const asked = { method, path, query, headers, bytes: body.length, text: body.toString().slice(0, 50) };
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json', 'x-amzn-RequestId': 'request-1' },
    body: JSON.stringify(asked),
  };
}

const api: ApiGateway = { handle: echo, gatewayResponse, flushAuthorizersCache: () => {} };
let server: HttpServer;
let printed: jest.SpiedFunction<typeof console.log>;

beforeAll(async () => {
  server = await serve(api, 0);
});
afterAll(() => server.close());
beforeEach(() => {
  printed = jest.spyOn(console, 'log').mockReturnValue();
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(async () => {
  await expectToServe();
  jest.restoreAllMocks();
});

async function expectToServe(): Promise<void> {
  expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(200);
}

function send(...parts: (string | Buffer)[]) {
  return sendBytes(server.port, ...parts);
}

const close = 'Host: localhost\r\nConnection: close\r\n';

describe('the server passes on', () => {
  test('method, path and query as they were sent', async () => {
    const { body } = await send(`PATCH /a%2Fb//c/?x=%20&y=?z HTTP/1.1\r\n${close}\r\n`);
    expect(JSON.parse(body)).toMatchObject({ method: 'PATCH', path: '/a%2Fb//c/', query: 'x=%20&y=?z' });
  });

  test('each header with the case of its name', async () => {
    const { body } = await send(`GET / HTTP/1.1\r\n${close}x-TEST: one\r\nX-Test: two\r\n\r\n`);
    expect(JSON.parse(body).headers.slice(2)).toEqual([
      ['x-TEST', 'one'],
      ['X-Test', 'two'],
    ]);
  });

  test('the path of an absolute URL', async () => {
    const { body } = await send(`GET HTTP://localhost:3000/v1/pets?limit=1 HTTP/1.1\r\n${close}\r\n`);
    expect(JSON.parse(body)).toMatchObject({ path: '/v1/pets', query: 'limit=1' });
  });

  test('a chunked body', async () => {
    const { body } = await send(
      `POST / HTTP/1.1\r\n${close}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
      '2\r\nde\r\n0\r\n\r\n',
    );
    expect(JSON.parse(body)).toMatchObject({ bytes: 5, text: 'abcde' });
  });

  test('a body of 10 MB', async () => {
    const bytes = 10 * 1024 * 1024;
    const { body } = await send(
      `POST / HTTP/1.1\r\n${close}Content-Length: ${bytes}\r\n\r\n`,
      Buffer.alloc(bytes, 'a'),
    );
    expect(JSON.parse(body)).toMatchObject({ bytes });
  });
});

describe('the server responds to', () => {
  test('HEAD without a body', async () => {
    const { status, head, body } = await send(`HEAD / HTTP/1.1\r\n${close}\r\n`);
    expect([status, body]).toEqual([200, '']);
    expect(head).toMatch(/\r\nContent-Length: [1-9]/);
  });

  test('a request with 204 without Content-Type and Content-Length', async () => {
    const { head, body } = await send(`GET /no-content HTTP/1.1\r\n${close}\r\n`);
    expect([head.replace(/Date: .*/, 'Date: '), body]).toEqual([
      'HTTP/1.1 204 No Content\r\nDeprecation: @0\r\nDate: \r\nConnection: close',
      '',
    ]);
  });

  test.each([
    ['a request without Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a request with an unknown Expect', `GET / HTTP/1.1\r\n${close}Expect: the-best\r\n\r\n`],
    [
      'a request that asks for another protocol',
      `GET / HTTP/1.1\r\n${close.replace('close', 'Upgrade, close')}Upgrade: h2c\r\n\r\n`,
    ],
  ])('%s like to any other', async (_name, bytes) => {
    const { status, body } = await send(bytes);
    expect([status, JSON.parse(body).path]).toEqual([200, '/']);
  });

  test.each([
    ['bytes that are not HTTP', 400, 'hello\r\n\r\n'],
    ['the start of a TLS connection', 400, Buffer.from('16030100a5010000a10303', 'hex')],
    ['an unknown method', 400, `PET / HTTP/1.1\r\n${close}\r\n`],
    ['a URL with a space', 400, `GET /a b HTTP/1.1\r\n${close}\r\n`],
    ['more than 10 kB of headers', 400, `GET / HTTP/1.1\r\n${close}X: ${'a'.repeat(11_000)}\r\n\r\n`],
    ['a Content-Length that is not a number', 400, `POST / HTTP/1.1\r\n${close}Content-Length: many\r\n\r\n`],
    [
      'a Content-Length and chunks at once',
      400,
      `POST / HTTP/1.1\r\n${close}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a failure of the API', 500, `GET /fails HTTP/1.1\r\n${close}\r\n`],
    ['an invalid status', 500, `GET /odd-status HTTP/1.1\r\n${close}\r\n`],
    ['an invalid header value', 500, `GET /odd-header HTTP/1.1\r\n${close}\r\n`],
  ])('%s with the Error body (%i)', async (_name, status, bytes) => {
    const answer = await send(bytes);
    expect(answer.status).toBe(status);
    expect(answer.head).toContain('x-amzn-RequestId: request-1');
    expect(answer.head).toContain(`Content-Length: ${answer.body.length}`);
    expect(JSON.parse(answer.body)).toEqual({
      code: `default_${status / 100}xx`,
      message: 'Refused.',
      status,
    });
  });

  const tooMany = 11 * 1024 * 1024;
  test.each([
    ['whose length is declared', `Content-Length: ${tooMany}\r\n\r\n`, ''],
    ['in chunks', `Transfer-Encoding: chunked\r\n\r\n${tooMany.toString(16)}\r\n`, '\r\n0\r\n\r\n'],
  ])('a body of 11 MB %s with the Error body (413)', async (_name, framing, end) => {
    const answer = await send(`POST / HTTP/1.1\r\n${close}${framing}`, Buffer.alloc(tooMany, 'a'), end);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([413, { status: 413 }]);
  });

  test.each([
    ['headers of 5 MB', `GET / HTTP/1.1\r\nX: ${'a'.repeat(5_000_000)}\r\n\r\n`],
    ['a body of 5 MB after a malformed head', `PET / HTTP/1.1\r\n\r\n${'a'.repeat(5_000_000)}`],
  ])('%s without resetting the connection, which could lose the response', async (_name, bytes) => {
    expect((await send(bytes)).status).toBe(400);
  });

  test('a client that closes its side of the connection after its request', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('a complete request, then to the garbage that follows it', async () => {
    const { status, body } = await send(
      'POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}GARBAGE\r\n\r\n',
    );
    expect(status).toBe(200);
    expect(body).toMatch(/"path":"\/first".*HTTP\/1\.1 400 Bad Request/s);
  });

  test.each([
    ['that is not a name', 'Host: a>; rel="x"'],
    ['with a path', 'Host: a/b'],
    ['that is empty', 'Host: '],
    ['given twice', 'Host: a\r\nHost: b'],
  ])('a Host %s with the Error body (400)', async (_name, host) => {
    const { status, body } = await send(`GET / HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`);
    expect([status, JSON.parse(body).status]).toEqual([400, 400]);
  });

  test.each(['localhost:3000', '127.0.0.1', '[::1]:80', 'pets.example.com'])('with Host %s', async (host) => {
    const { status } = await send(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(status).toBe(200);
  });

  test('an HTTP/1.0 request with a Host of this port', async () => {
    const { body } = await send('GET / HTTP/1.0\r\n\r\n');
    expect(JSON.parse(body).headers).toEqual([['Host', `localhost:${server.port}`]]);
  });

  test('CONNECT with the Error body (400)', async () => {
    const { status, body } = await send('CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n');
    expect([status, JSON.parse(body).status]).toEqual([400, 400]);
  });

  test('the next request of a connection whose last body was too large', async () => {
    const { body } = await send(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${tooMany}\r\n\r\n`,
      Buffer.alloc(tooMany, 'a'),
      `GET /next HTTP/1.1\r\n${close}\r\n`,
    );
    expect(body).toContain('"path":"/next"');
  });

  test('other clients after one disconnected in the middle of its upload', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\n${close}Content-Length: 1000\r\n\r\nabc`, () =>
      socket.resetAndDestroy(),
    );
    await once(socket, 'close');
    await expectToServe();
    expect(printed).not.toHaveBeenCalledWith(expect.stringContaining('POST'));
  });
});

describe('the server', () => {
  test('prints time, method, path, status and milliseconds of a request, but not query and key', async () => {
    await send(`GET /v1/pets?limit=1 HTTP/1.1\r\n${close}Authorization: Bearer secret\r\n\r\n`);
    expect(printed.mock.calls).toEqual([
      [expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z GET \/v1\/pets 200 \d+\.\d ms$/)],
    ]);
  });

  test('listens on the loopback interface only', async () => {
    const socket = connect(server.port, '::1');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(['ECONNREFUSED', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']).toContain(error.code);
  });

  test('closes although a client keeps an idle connection open', async () => {
    const other = await serve(api, 0);
    const socket = connect(other.port, '127.0.0.1').resume();
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    await other.close();
    await closed;
    expect(socket.destroyed).toBe(true);
  });
});
