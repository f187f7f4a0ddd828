import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { connect, Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import type { ApiGateway } from '../../../../infra/local/emulator/gateway/api-gateway.ts';
import type { HttpRequest, HttpResponse } from '../../../../infra/local/emulator/gateway/http-message.ts';
import { serve } from '../../../../infra/local/emulator/gateway/server.ts';

const failed: HttpResponse = { status: 500, headers: {}, body: '{"code":"internal_error"}' };

async function handle({ method, path, query, headers, host, body }: HttpRequest): Promise<HttpResponse> {
  if (path === '/early') return { status: 401, headers: {}, body: 'unauthorized' };
  if (path === '/no-content') return { status: 204, headers: { Deprecation: '@0' }, body: '' };
  if (path === '/invalid-header') return { status: 200, headers: { Invalid: 'a\nb' }, body: '' };
  const chunks = await Array.fromAsync(body);
  const echo = { method, path, query, headers, host, body: Buffer.concat(chunks).toString() };
  return { status: 200, headers: {}, body: JSON.stringify(echo) };
}

const api: ApiGateway = { handle, gatewayResponse: () => failed, flushAuthorizersCache: () => {} };
const server = await serve(api, 0);
afterAll(() => server.close());

beforeEach(() => {
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Sends bytes over a new connection. Returns the response after the server has closed the connection. */
async function send(request: string) {
  const socket = connect(server.port, '127.0.0.1');
  socket.write(request);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body };
}

/** Returns the host that the API gets for a request with the given Host header. */
async function hostFor(name: string): Promise<string> {
  const { body } = await send(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
  return JSON.parse(body).host;
}

const host = 'Host: localhost\r\n';
const close = `${host}Connection: close\r\n`;

describe('the server', () => {
  test.each([
    ['/a%2Fb//c/?x=%20&y=?z', '/a%2Fb//c/', 'x=%20&y=?z'],
    ['HTTP://localhost:3000/v1/books?limit=1', '/v1/books', 'limit=1'],
  ])('passes a request for %s to the API as the client wrote it', async (url, path, query) => {
    const { body } = await send(`PATCH ${url} HTTP/1.1\r\n${close}x-TEST: one\r\nX-Test: two\r\n\r\n`);
    const { method, headers, ...others } = JSON.parse(body);
    expect([method, others]).toEqual(['PATCH', { path, query, host: 'localhost', body: '' }]);
    expect(headers.slice(2)).toEqual(Object.entries({ 'x-TEST': 'one', 'X-Test': 'two' }));
  });

  test('ignores an offer to use HTTP/2, which Java sends by default', async () => {
    const offer =
      'Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
    const request = `POST /body HTTP/1.1\r\n${host}${offer}Content-Length: 2\r\n\r\n{}`;
    const { status, head, body } = await send(request);
    expect([status, JSON.parse(body).body]).toEqual([200, '{}']);
    expect(head).not.toMatch(/upgrade/i);
  });

  test('sends a 204 without a Content-Length header and without a body', async () => {
    const { head, body } = await send(`GET /no-content HTTP/1.1\r\n${close}\r\n`);
    expect(head).toMatch(/^HTTP\/1\.1 204 No Content\r\nDeprecation: @0\r\nDate: .*\r\nConnection: close$/);
    expect(body).toBe('');
  });

  test('returns a gateway response if a function sets an invalid header', async () => {
    const response = await send(`GET /invalid-header HTTP/1.1\r\n${close}\r\n`);
    expect(response).toMatchObject({ status: 500, body: failed.body });
  });

  test('responds to a client that half-closes its connection after the request', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end(`GET / HTTP/1.1\r\n${host}\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('responds before it receives the rest of an unread body, and then serves the next request', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST /early HTTP/1.1\r\n${host}Content-Length: 10\r\n\r\nGET /`);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 401 /);
    socket.write(`otherGET /no-content HTTP/1.1\r\n${close}\r\n`);
    expect(await text(socket)).toContain('HTTP/1.1 204 ');
  });

  test('receives the rest of an unread body before it closes the connection', async () => {
    const head = `POST /early HTTP/1.1\r\n${close}Content-Length: 5000000\r\n\r\n`;
    expect((await send(head + 'a'.repeat(5_000_000))).status).toBe(401);
  });

  test('responds to requests after a client has disconnected during an upload', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\n${close}Content-Length: 9\r\n\r\nabc`, () => socket.resetAndDestroy());
    await once(socket, 'close');
    expect((await send(`GET / HTTP/1.1\r\n${close}\r\n`)).status).toBe(200);
  });

  test('accepts 10,240 bytes of headers like API Gateway, and rejects 30,000', async () => {
    const statuses: number[] = [];
    for (const bytes of [10_240, 30_000]) {
      const header = `X: ${'a'.repeat(bytes - close.length - 5)}\r\n`;
      statuses.push((await send(`GET / HTTP/1.1\r\n${close}${header}\r\n`)).status);
    }
    expect(statuses).toEqual([200, 431]);
  });

  test('closes at once if a client has connected but sent no request', async () => {
    const closeAll = jest.spyOn(HttpServer.prototype, 'closeAllConnections');
    const other = await serve(api, 0);
    const socket = connect(other.port, '127.0.0.1').resume();
    await once(socket, 'connect');
    await fetch(`http://127.0.0.1:${other.port}/`); // The server accepts connections in their order.
    await Promise.all([once(socket, 'close'), other.close()]);
    // The server calls this function when it has waited in vain for its connections.
    expect(closeAll).not.toHaveBeenCalled();
  });
});

describe('the host of URLs in responses', () => {
  test('is the one that the client uses if it names this machine', async () => {
    const names = ['localhost', 'localhost:8080', '127.0.0.1:3000', '[::1]:3000', 'LOCALHOST:3000'];
    for (const name of names) expect(await hostFor(name)).toBe(name);
  });

  test("is the server's own if the client sends another one", async () => {
    const names = [
      'attacker.example',
      'localhost.attacker.example',
      'localhost@attacker.example',
      'localhost:3000/attacker',
      'localhost\r\nHost: attacker.example',
      'a"><script>',
    ];
    const own = `localhost:${server.port}`;
    const hosts = await Promise.all(names.map(async (name) => [name, await hostFor(name)]));
    expect(hosts).toEqual(names.map((name) => [name, own]));
  });
});

describe('the server listens', () => {
  test('only on the loopback addresses', async () => {
    // Addresses with a scope are omitted, because their URLs would have to name the network interface.
    const addresses = Object.values(networkInterfaces())
      .flatMap((all = []) => all.filter(({ scopeid }) => !scopeid))
      .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));
    const responding: string[] = [];
    for (const address of addresses) {
      const response = await fetch(`http://${address}:${server.port}/`).catch(() => undefined);
      if (response) responding.push(address);
    }
    expect(responding).toEqual(addresses.filter((address) => ['127.0.0.1', '[::1]'].includes(address)));
  });

  // Containers often lack ::1.
  test('on the only loopback address that the machine has', async () => {
    const listen = Reflect.get(Server.prototype, 'listen') as (...parameters: unknown[]) => Server;
    jest.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...parameters) {
      if (parameters.at(1) !== '::1') return Reflect.apply(listen, this, parameters);
      const error = Object.assign(new Error('listen EADDRNOTAVAIL'), { code: 'EADDRNOTAVAIL' });
      process.nextTick(() => this.emit('error', error));
      return this;
    });
    const other = await serve(api, 0);
    expect((await fetch(`http://127.0.0.1:${other.port}/early`)).status).toBe(401);
    await other.close();
  });
});
