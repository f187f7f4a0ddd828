import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { ApiGateway } from '../../../../../infra/local/emulator/gateway/api-gateway.ts';
import type { HttpRequest, HttpResponse } from '../../../../../infra/local/emulator/gateway/http-message.ts';
import { type Exchange, type HttpServer, serve } from '../../../../../infra/local/emulator/gateway/server.ts';
import { sendBytes } from '../../../../support/raw-http.ts';

const statusOf: Record<string, number> = { DEFAULT_4XX: 400, DEFAULT_5XX: 500, REQUEST_TOO_LARGE: 413 };

function gatewayResponse(responseType: string): HttpResponse {
  const status = statusOf[responseType]!;
  const headers = { 'Content-Type': 'application/json', 'x-amzn-RequestId': 'request-1' };
  return { status, headers, body: JSON.stringify({ code: responseType, status }) };
}

async function echo({ method, path, query, headers, body }: HttpRequest): Promise<HttpResponse> {
  if (path === '/slow') await setTimeout(20);
  if (path === '/fails') throw new Error('test error');
  if (path === '/no-content') return { status: 204, headers: { Deprecation: '@0' }, body: '' };
  if (path === '/invalid-header') return { status: 200, headers: { Invalid: 'a\nb' }, body: '' };
  const received = { method, path, query, headers, bytes: body.length, text: body.toString().slice(0, 50) };
  return { status: 200, headers: {}, body: JSON.stringify(received) };
}

const api: ApiGateway = { handle: echo, gatewayResponse, flushAuthorizersCache: () => {} };
let server: HttpServer;
const exchanges: Exchange[] = [];

beforeAll(async () => {
  server = await serve(api, 0, { onResponse: (exchange) => exchanges.push(exchange) });
});
afterAll(() => server.close());
beforeEach(() => {
  exchanges.length = 0;
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

describe('the server', () => {
  test('passes the method, path, query and header names to the API unchanged', async () => {
    const { body } = await send(
      `PATCH /a%2Fb//c/?x=%20&y=?z HTTP/1.1\r\n${close}x-TEST: one\r\nX-Test: two\r\n\r\n`,
    );
    const { method, path, query, headers } = JSON.parse(body);
    expect([method, path, query]).toEqual(['PATCH', '/a%2Fb//c/', 'x=%20&y=?z']);
    expect(headers.slice(2)).toEqual([
      ['x-TEST', 'one'],
      ['X-Test', 'two'],
    ]);
  });

  test('passes only the path and query of an absolute URL to the API', async () => {
    const { body } = await send(`GET HTTP://localhost:3000/v1/pets?limit=1 HTTP/1.1\r\n${close}\r\n`);
    expect(JSON.parse(body)).toMatchObject({ path: '/v1/pets', query: 'limit=1' });
  });

  test('passes a body of 10 MB to the API', async () => {
    const bytes = 10 * 1024 * 1024;
    const head = `POST / HTTP/1.1\r\n${close}Content-Length: ${bytes}\r\n\r\n`;
    const { body } = await send(head, Buffer.alloc(bytes, 'a'));
    expect(JSON.parse(body)).toMatchObject({ bytes });
  });

  test('sends a response without content', async () => {
    const { head, body } = await send(`GET /no-content HTTP/1.1\r\n${close}\r\n`);
    expect([head.replace(/Date: .*/, 'Date: '), body]).toEqual([
      'HTTP/1.1 204 No Content\r\nDeprecation: @0\r\nDate: \r\nConnection: close',
      '',
    ]);
  });

  test('responds to a request with an unknown Expect header', async () => {
    const { status, body } = await send(`GET / HTTP/1.1\r\n${close}Expect: the-best\r\n\r\n`);
    expect([status, JSON.parse(body).path]).toEqual([200, '/']);
  });

  const tooLarge = Buffer.alloc(11 * 1024 * 1024, 'a');
  const post = `POST / HTTP/1.1\r\n${close}`;
  const chunk = `Transfer-Encoding: chunked\r\n\r\n${tooLarge.length.toString(16)}\r\n`;
  test.each<[string, string, string, ...(string | Buffer)[]]>([
    ['a failure of the API', 'DEFAULT_5XX', `GET /fails HTTP/1.1\r\n${close}\r\n`],
    ['an invalid header value', 'DEFAULT_5XX', `GET /invalid-header HTTP/1.1\r\n${close}\r\n`],
    ['a chunked body of 11 MB', 'REQUEST_TOO_LARGE', `${post}${chunk}`, tooLarge, '\r\n0\r\n\r\n'],
  ])('responds to %s with the gateway response %s', async (_name, responseType, ...parts) => {
    const { status, head, body } = await send(...parts);
    const expected = gatewayResponse(responseType);
    expect([status, body]).toEqual([expected.status, expected.body]);
    expect(head).toContain('x-amzn-RequestId: request-1');
    expect(head).toContain(`Content-Length: ${body.length}`);
  });

  test('responds to a client that half-closes its connection after the request', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('responds to an HTTP/1.0 request without a Host header', async () => {
    const { body } = await send('GET / HTTP/1.0\r\n\r\n');
    expect(JSON.parse(body).headers).toEqual([['Host', `localhost:${server.port}`]]);
  });

  test('responds to a second request after a request whose body is too large', async () => {
    const first = post.replace(close, 'Host: localhost\r\n');
    const { status, body } = await send(
      `${first}Content-Length: ${tooLarge.length}\r\n\r\n`,
      tooLarge,
      `GET /next HTTP/1.1\r\n${close}\r\n`,
    );
    expect(status).toBe(413);
    expect(body).toContain('"path":"/next"');
  });

  test('responds to requests after a client has disconnected during an upload', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`${post}Content-Length: 9\r\n\r\nabc`, () => socket.resetAndDestroy());
    await once(socket, 'close');
    await expectToServe();
    expect(exchanges.map(({ method }) => method)).not.toContain('POST');
  });

  const [ipv4, ...others] = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ scopeid }) => !scopeid).map(({ address }) => address),
  );
  test.each([ipv4!, ...others])('listens on %s only if it is a localhost address', async (address) => {
    const outcome = await fetch(
      `http://${address.includes(':') ? `[${address}]` : address}:${server.port}/`,
    ).then(
      ({ status }) => status,
      () => 'refused',
    );
    expect(outcome).toBe(['127.0.0.1', '::1'].includes(address) ? 200 : 'refused');
  });

  test('closes even if a client keeps an idle connection open', async () => {
    const other = await serve(api, 0);
    const socket = connect(other.port, '127.0.0.1').resume();
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    await other.close();
    await closed;
    expect(socket.destroyed).toBe(true);
  });
});
