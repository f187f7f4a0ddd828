import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { ApiGateway } from '../../../../infra/local/gateway/api-gateway.ts';
import { type HttpServer, serve } from '../../../../infra/local/gateway/server.ts';
import { errorBody, type ErrorCode } from '../../../../shared/contract/errors.ts';
import { type RawResponse, sendBytes } from '../../../support/raw-http.ts';

const gatewayHeaders = { 'Cache-Control': 'no-store', 'x-amzn-RequestId': 'request-1' };
const handled: string[] = [];
const api: ApiGateway = {
  async handle({ path }) {
    handled.push(path);
    return { status: 200, headers: {}, body: '' };
  },
  gatewayResponse: () => ({ status: 400, headers: gatewayHeaders, body: '' }),
  flushAuthorizersCache: () => {},
};
let server: HttpServer;
let impatient: HttpServer;

beforeAll(async () => {
  server = await serve(api, 0);
  impatient = await serve(api, 0, undefined, { requestTimeout: 50, connectionsCheckingInterval: 10 });
  jest.spyOn(console, 'log').mockReturnValue();
});
afterAll(async () => {
  await Promise.all([server.close(), impatient.close()]);
  jest.restoreAllMocks();
});
afterEach(async () => {
  await expectToServe();
  handled.length = 0;
});

async function expectToServe(): Promise<void> {
  expect((await fetch(`http://127.0.0.1:${server.port}/other`)).status).toBe(200);
}

/** Expects an Error body for the error code, the headers of every error response, and `Connection: close`. */
function expectError({ status, head, body }: RawResponse, code: ErrorCode, message?: unknown): void {
  const expected = { ...errorBody(code), ...(message !== undefined && { message }) };
  expect([status, JSON.parse(body)]).toEqual([expected.status, expected]);
  expect(head.split('\r\n').slice(1)).toEqual([
    ...Object.entries(gatewayHeaders).map(([name, value]) => `${name}: ${value}`),
    expect.stringMatching(/^Date: .+ GMT$/),
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]);
}

const HOST = 'Host: localhost\r\n';
const post = `POST / HTTP/1.1\r\n${HOST}`;
const chunked = 'Transfer-Encoding: chunked\r\n';
const version = 'the version must be HTTP/1.1 or HTTP/1.0';
const host = 'Host must be a name or an IP address, with an optional port';
const encoding = 'Transfer-Encoding must be chunked and requires HTTP/1.1';

test.each([
  ['text that is not HTTP', 'hello\r\n\r\n', 'method'],
  // The server must not reset the connection during an upload, because the client could lose the response.
  ['an unknown method with 5 MB of data', `PET / HTTP/1.1\r\n\r\n${'a'.repeat(5_000_000)}`, 'method'],
  ['a CONNECT request', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', 'CONNECT is not supported'],

  ['a URL with a control character', 'GET /\x7f HTTP/1.1\r\n\r\n', 'url'],
  ['a header with a control character', `GET / HTTP/1.1\r\n${HOST}X\0: x\r\n\r\n`, 'header'],
  ['a chunk without a size', `${post}${chunked}\r\nx\r\n`, 'chunk size'],

  ['a missing version', 'GET /\r\n\r\n', version],
  ['HTTP/2.0', `GET / HTTP/2.0\r\n${HOST}\r\n`, version],
  ['HTTP/1.2', `GET / HTTP/1.2\r\n${HOST}\r\n`, version],
  ['a different protocol', 'GET / ICE/1.0\r\n\r\n', version],
  ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', version],

  ['a missing Host header', 'GET / HTTP/1.1\r\n\r\n', 'exactly one Host header'],
  ['two Host headers in HTTP/1.0', `GET / HTTP/1.0\r\n${HOST}${HOST}\r\n`, 'exactly one Host header'],
  ['an empty Host header', 'GET / HTTP/1.1\r\nHost:\r\n\r\n', host],
  ['a Host header that contains link syntax', 'GET / HTTP/1.1\r\nHost: a>; rel=x\r\n\r\n', host],

  // Attackers use these requests to hide a second request in a body (RFC 9112 section 11.2).
  ['encodings identity, chunked', `${post}Transfer-Encoding: identity\r\n${chunked}\r\n`, encoding],
  ['encodings chunked, identity', `${post}Transfer-Encoding: chunked, identity\r\n\r\n`, 'Transfer-Encoding'],
  ['chunked encoding in HTTP/1.0', `POST / HTTP/1.0\r\n${chunked}\r\n`, encoding],
  ['chunked encoding with Content-Length', `${post}${chunked}Content-Length: 5\r\n\r\n`, 'Content-Length'],
])('the server rejects %s with a 400 that contains the reason', async (_name, text, reason) => {
  const hidden = `0\r\n\r\n${post}\r\n`;
  // The test matches only part of the message, because the parser's messages differ between versions of Node.
  const message = expect.stringMatching(`^The request is not valid HTTP: .*${reason}.*[.]$`);
  expectError(await sendBytes(server.port, text, hidden), 'invalid_request', message);
  expect(handled).toEqual([]);
});

test('resetting the connection of a CONNECT request does not affect other requests', async () => {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', () => socket.resetAndDestroy());
  await once(socket, 'close');
  await expectToServe();
});

test('the response to a rejected HEAD request has no body', async () => {
  const { status, head, body } = await sendBytes(server.port, 'HEAD / HTTP/1.1\r\n\r\n');
  expect([status, body]).toEqual([400, '']);
  expect(head).toMatch(/\r\nContent-Length: [1-9]/);
});

describe('the server', () => {
  const url = 'The URL is limited to 10240 characters.';
  const headers = 'The headers are limited to 10240 bytes in total.';

  test.each([
    ['a URL of 10,241 characters', `GET /${'a'.repeat(10_240)} HTTP/1.1\r\n${HOST}\r\n`, url],
    ['headers of 10,241 bytes', `GET / HTTP/1.1\r\n${HOST}${header(10_241 - HOST.length)}\r\n`, headers],
    ['many headers', `GET / HTTP/1.1\r\n${HOST}${header(5).repeat(2_050)}\r\n`, headers],
    ['a URL of 5 MB', `GET /${'a'.repeat(5_000_000)} HTTP/1.1\r\n${HOST}\r\n`, undefined],
  ])('returns 431 for %s', async (_name, text, message) => {
    expectError(await sendBytes(server.port, text), 'request_header_fields_too_large', message);
    expect(handled).toEqual([]);
  });

  test.each([
    ['a URL of 10,240 characters', `GET /${'a'.repeat(10_239)} HTTP/1.1\r\n${HOST}`],
    ['headers of 10,240 bytes', `GET / HTTP/1.1\r\n${HOST}${header(10_221 - HOST.length)}`],
    ['chunked encoding in upper case', `${post}${chunked.toUpperCase()}`, '0\r\n\r\n'],
    ['HTTP/1.0 without a Host header', 'GET / HTTP/1.0\r\n'],
    ...['localhost:3000', '127.0.0.1', '[::1]:80', 'pets.example.com'].map((name) => [
      `the host ${name}`,
      `GET / HTTP/1.1\r\nHost: ${name}\r\n`,
    ]),
  ])('accepts %s', async (_name, head = '', body = '') => {
    const { status } = await sendBytes(server.port, `${head}Connection: close\r\n\r\n${body}`);
    expect([status, handled]).toEqual([200, [expect.stringMatching(/^\/a*$/)]]);
  });
});

describe('a request that arrives too slowly', () => {
  const slow = `${post}Content-Length: 5\r\n\r\nabc`;

  test.each([
    ['half of its headers', 'POST / HTTP/1.1\r\nHo'],
    ['half of its body', slow],
  ])('gets a 408 after %s', async (_name, text) => {
    expectError(await sendBytes(impatient.port, text), 'request_timeout');
  });

  test('is not handled if it becomes complete after the 408', async () => {
    const socket = connect(impatient.port, '127.0.0.1');
    socket.write(slow);
    const [response] = await once(socket, 'data');
    socket.end('de');
    await once(socket, 'close');
    expect(String(response)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    // After the response to a second request, the server has also read the remaining bytes of the first request.
    await expectToServe();
    expect(handled).toEqual(['/other']);
  });
});

function header(bytes: number): string {
  return `X: ${'a'.repeat(bytes - 5)}\r\n`;
}
