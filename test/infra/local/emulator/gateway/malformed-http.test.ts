import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { ApiGateway } from '../../../../../infra/local/emulator/gateway/api-gateway.ts';
import { type HttpServer, serve } from '../../../../../infra/local/emulator/gateway/server.ts';
import { sendBytes } from '../../../../support/raw-http.ts';

const api: ApiGateway = {
  handle: async () => ({ status: 200, headers: {}, body: '' }),
  gatewayResponse: () => ({ status: 500, headers: {}, body: '' }),
  flushAuthorizersCache: () => {},
};
let server: HttpServer;
let impatient: HttpServer;

beforeAll(async () => {
  server = await serve(api, 0);
  impatient = await serve(api, 0, { requestTimeout: 50, connectionsCheckingInterval: 10 });
  jest.spyOn(console, 'log').mockReturnValue();
});
afterAll(async () => {
  await Promise.all([server.close(), impatient.close()]);
  jest.restoreAllMocks();
});

async function expectToServe(): Promise<void> {
  expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(200);
}

const HOST = 'Host: localhost\r\n';
const post = `POST / HTTP/1.1\r\n${HOST}`;
const chunked = 'Transfer-Encoding: chunked\r\n';

test.each([
  ['text that is not HTTP', 'hello\r\n\r\n'],
  ['an unknown method', `PET / HTTP/1.1\r\n${HOST}\r\n`],
  ['a URL with a control character', `GET /\x7f HTTP/1.1\r\n${HOST}\r\n`],
  ['a header with a control character', `GET / HTTP/1.1\r\n${HOST}X\0: x\r\n\r\n`],
  ['a missing version', 'GET /\r\n\r\n'],
  ['a different protocol', 'GET / ICE/1.0\r\n\r\n'],
  ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a missing Host header', 'GET / HTTP/1.1\r\n\r\n'],
  ['a chunk without a size', `${post}${chunked}\r\nx\r\n`],
  // Attackers use these requests to hide a second request in a body (RFC 9112 section 11.2).
  ['encodings chunked, identity', `${post}Transfer-Encoding: chunked, identity\r\n\r\n`],
  ['chunked encoding with Content-Length', `${post}${chunked}Content-Length: 5\r\n\r\n`],
  ['a URL of 30,000 characters', `GET /${'a'.repeat(30_000)} HTTP/1.1\r\n${HOST}\r\n`],
  ['headers of 30,000 bytes', `GET / HTTP/1.1\r\n${HOST}${'X: x\r\n'.repeat(5_000)}\r\n`],
])('the server rejects %s with a 4xx and continues to run', async (_name, text) => {
  const { status } = await sendBytes(server.port, text, `0\r\n\r\n${post}\r\n`);
  expect([status, status >= 400 && status < 500]).toEqual([status, true]);
  await expectToServe();
});

test.each([
  ['a CONNECT request', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n'],
  ['an empty Host header', 'GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n'],
  ['two Host headers', `GET / HTTP/1.1\r\n${HOST}${HOST}Connection: close\r\n\r\n`],
  ['HTTP/2.0', `GET / HTTP/2.0\r\n${HOST}Connection: close\r\n\r\n`],
  ['chunked encoding in HTTP/1.0', `POST / HTTP/1.0\r\n${chunked}\r\n0\r\n\r\n`],
])('after %s, the server continues to run', async (_name, text) => {
  expect((await sendBytes(server.port, text)).status).not.toBeGreaterThanOrEqual(500);
  const socket = connect(server.port, '127.0.0.1');
  socket.write(text, () => socket.resetAndDestroy());
  await once(socket, 'close');
  await expectToServe();
});

test.each([
  ['half of its headers', 'POST / HTTP/1.1\r\nHo'],
  ['half of its body', `${post}Content-Length: 5\r\n\r\nabc`],
])('a request that stops after %s gets a 408', async (_name, text) => {
  expect((await sendBytes(impatient.port, text)).status).toBe(408);
});

test.each([
  ['a URL of 10,240 characters', `GET /${'a'.repeat(10_239)} HTTP/1.1\r\n${HOST}`],
  ['headers of 10,240 bytes', `GET / HTTP/1.1\r\n${HOST}X: ${'a'.repeat(10_240 - 26 - HOST.length)}\r\n`],
])('the server accepts %s', async (_name, head) => {
  expect((await sendBytes(server.port, `${head}Connection: close\r\n\r\n`)).status).toBe(200);
});
