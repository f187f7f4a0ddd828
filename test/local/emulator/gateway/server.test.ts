import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import type { ApiGateway } from '../../../../infra/local/emulator/gateway/api-gateway.ts';
import type { HttpRequest, HttpResponse } from '../../../../infra/local/emulator/gateway/http-message.ts';
import { serve } from '../../../../infra/local/emulator/gateway/server.ts';

const failed: HttpResponse = {
  status: 500,
  headers: { 'x-amzn-RequestId': 'request-1' },
  body: '{"code":"internal_error"}',
};
const first: HttpResponse = { status: 200, headers: {}, body: 'first' };

async function handle({ method, path, query, headers, host, body }: HttpRequest): Promise<HttpResponse> {
  handled.push(path);
  if (path === '/host') return { status: 200, headers: {}, body: host };
  if (path === '/body') await Array.fromAsync(body);
  if (path === '/fails') throw new Error('test error');
  if (path === '/no-content') return { status: 204, headers: { Deprecation: '@0' }, body: '' };
  if (path === '/invalid-header') return { status: 200, headers: { Invalid: 'a\nb' }, body: '' };
  return { status: 200, headers: {}, body: JSON.stringify({ method, path, query, headers }) };
}

const api: ApiGateway = { handle, gatewayResponse: () => failed, flushAuthorizersCache: () => {} };
/** Paths of the requests in the current test that the API has received. */
const handled: string[] = [];
/** Method, path and response status of each request in the current test. */
const responses: string[] = [];
const server = await serve(api, 0, {
  respondFirst: async ({ path }) => (path === '/first' ? first : undefined),
  onResponse: ({ method, path }, status) => responses.push(`${method} ${path} ${status}`),
});
afterAll(() => server.close());
beforeEach(() => {
  handled.length = 0;
  responses.length = 0;
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(async () => {
  await expectToServe();
  jest.restoreAllMocks();
});

async function expectToServe(): Promise<void> {
  expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(200);
}

/** Sends a request over a new connection. Returns the response after the server has closed the connection. */
async function send(request: string) {
  const socket = connect(server.port, '127.0.0.1');
  socket.write(request);
  const response = await text(socket);
  const [head = '', body = ''] = response.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body };
}

const hostHeader = 'Host: localhost\r\n';
const close = `${hostHeader}Connection: close\r\n`;

describe('the server', () => {
  test.each([
    ['/a%2Fb//c/?x=%20&y=?z', '/a%2Fb//c/', 'x=%20&y=?z'],
    ['HTTP://localhost:3000/v1/books?limit=1', '/v1/books', 'limit=1'],
  ])('passes the URL and headers of a request for %s to the API', async (url, path, query) => {
    const { body } = await send(`PATCH ${url} HTTP/1.1\r\n${close}x-TEST: one\r\nX-Test: two\r\n\r\n`);
    const { headers, ...others } = JSON.parse(body);
    expect(others).toEqual({ method: 'PATCH', path, query });
    expect(headers.slice(2)).toEqual(Object.entries({ 'x-TEST': 'one', 'X-Test': 'two' }));
  });

  test('ignores an offer to use HTTP/2, which Java sends by default', async () => {
    const offer =
      'Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
    const request = `POST /body HTTP/1.1\r\n${hostHeader}${offer}Content-Length: 2\r\n\r\n{}`;
    expect(await send(request)).toMatchObject({ status: 200, head: expect.not.stringMatching(/upgrade/i) });
  });

  test('sends a 204 without a Content-Length header and without a body', async () => {
    const { head, body } = await send(`GET /no-content HTTP/1.1\r\n${close}\r\n`);
    expect(head).toMatch(/^HTTP\/1\.1 204 No Content\r\nDeprecation: @0\r\nDate: .*\r\nConnection: close$/);
    expect(body).toBe('');
  });

  test.each([
    ['a failure of the API', '/fails'],
    ['an invalid header value', '/invalid-header'],
  ])('returns a gateway response after %s', async (_name, path) => {
    const { status, head, body } = await send(`GET ${path} HTTP/1.1\r\n${close}\r\n`);
    expect([status, body]).toEqual([500, failed.body]);
    expect(head).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\n/);
    expect(head).toContain('x-amzn-RequestId: request-1');
    expect(head).toContain(`Content-Length: ${body.length}`);
    expect(responses).toEqual([`GET ${path} 500`]);
  });

  test('responds to a client that half-closes its connection after the request', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('responds before it receives the rest of an unread body, and then serves the next request', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST /no-content HTTP/1.1\r\n${hostHeader}Content-Length: 10\r\n\r\nGET /`);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 204 /);
    socket.write(`otherGET /first HTTP/1.1\r\n${close}\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [^]*\r\nfirst$/);
  });

  test('receives the rest of an unread body before it closes the connection', async () => {
    const head = `POST /first HTTP/1.1\r\n${close}Content-Length: 5000000\r\n\r\n`;
    expect((await send(head + 'a'.repeat(5_000_000))).body).toBe(first.body);
  });

  test('responds to requests after a client has disconnected during an upload', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\n${close}Content-Length: 9\r\n\r\nabc`, () => socket.resetAndDestroy());
    await once(socket, 'close');
    await expectToServe();
  });

  // Addresses with a scope are omitted, because their URLs would have to name the network interface.
  const hosts = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ scopeid }) => !scopeid),
  );
  test.each(hosts)('listens on $address only if it is a loopback address', async ({ address, family }) => {
    const hostname = family === 'IPv6' ? `[${address}]` : address;
    const response = await fetch(`http://${hostname}:${server.port}/`).catch(() => undefined);
    expect(response?.status).toBe(['127.0.0.1', '::1'].includes(address) ? 200 : undefined);
  });

  test('closes even if a client keeps an idle connection open', async () => {
    const other = await serve(api, 0);
    const socket = connect(other.port, '127.0.0.1').resume();
    await once(socket, 'connect');
    await Promise.all([once(socket, 'close'), other.close()]);
    expect(socket.destroyed).toBe(true);
  });
});

const get = (path: string) => `GET ${path} HTTP/1.1\r\n${hostHeader}\r\n`;
const statusLines = (response: string) => response.match(/HTTP\/1\.1 \d.*(?=\r\n)/g);

describe('the host of a request', () => {
  test.each(['localhost', 'localhost:8080', '127.0.0.1:3000', '[::1]:3000', 'LOCALHOST:3000'])(
    'is %s if the client uses this name of the machine',
    async (name) => {
      expect((await send(`GET /host HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)).body).toBe(
        name,
      );
    },
  );

  test.each([
    'attacker.example',
    'a"><script>',
    'localhost.attacker.example',
    'localhost@attacker.example',
    'localhost:99999',
    'localhost:3000/attacker',
    '127.0.0.1.attacker.example:3000',
    '',
    'localhost\r\nHost: attacker.example',
  ])("is the server's own host if the client sends %j", async (name) => {
    const { body } = await send(`GET /host HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
    expect(body).toBe(`localhost:${server.port}`);
  });
});

test('a client gets the responses to 5,000 requests that it sends at once', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.end(get('/no-content').repeat(5_000));
  expect(statusLines(await text(socket))).toHaveLength(5_000);
});

const post = `POST / HTTP/1.1\r\n${hostHeader}`;
const chunked = `${post}Transfer-Encoding: chunked`;
const second = `0\r\n\r\n${post}\r\n`;

// After each of these tests, expectToServe checks that the server still responds.
test.each([
  ['text that is not HTTP', 'hello\r\n\r\n'],
  ['an unknown method', `FETCH / HTTP/1.1\r\n${hostHeader}\r\n`],
  ['a missing Host header', 'GET / HTTP/1.1\r\n\r\n'],
  // Attackers use the next two requests to hide a second request in a body (RFC 9112 section 11.2).
  ['the transfer encodings chunked and identity', `${chunked}, identity\r\n\r\n${second}`],
  ['a chunked body with Content-Length', `${chunked}\r\nContent-Length: 5\r\n\r\n${second}`],
  ['a URL of 30,000 characters', `GET /${'a'.repeat(30_000)} HTTP/1.1\r\n${hostHeader}\r\n`],
  ['a header of 30,000 bytes', `GET / HTTP/1.1\r\n${hostHeader}X: ${'a'.repeat(30_000)}\r\n\r\n`],
])('the server returns a 4xx for %s', async (_name, bytes) => {
  expect((await send(bytes)).status.toString()).toMatch(/^4\d\d$/);
});

test.each([
  ['a URL of 10,240 characters', `GET /${'a'.repeat(10_239)} HTTP/1.1\r\n${hostHeader}`],
  [
    'headers of 10,240 bytes',
    `GET / HTTP/1.1\r\n${hostHeader}X: ${'a'.repeat(10_240 - 26 - hostHeader.length)}\r\n`,
  ],
])('the server accepts %s', async (_name, head) => {
  expect((await send(`${head}Connection: close\r\n\r\n`)).status).toBe(200);
});
