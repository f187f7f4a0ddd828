import * as fc from 'fast-check';
import { methodsByPath } from '../../shared/contract/gateway-responses.ts';
import { segment } from './requests.ts';

// Generates messages that do not reach an operation, because the URL, method, API key or HTTP syntax is invalid.

export interface Message {
  kind: string;
  /** Message in which each character is one byte. `{key}` is a placeholder for a valid API key. */
  text: string;
  method: string;
  /** Expected status, or undefined if any status except 201 and 5xx is valid. */
  expected?: number;
}

const AUTHORIZATION = 'Authorization: Bearer {key}';
const BODY = '{"name":"Rex","categoryId":5}';

/** Returns the request line and headers of a request. */
function head(start: string, ...fields: string[]): string {
  return [start, 'Host: localhost', ...fields, '', ''].join('\r\n');
}

const petPath = fc.oneof(
  fc.constant('/v1/pets'),
  segment.filter((part) => part.length < 100).map((part) => `/v1/pets/${part}`),
);
const otherPath = fc.oneof(
  fc.constantFrom('/', '/v1', '/v2/pets', '/v1/pets/1/2', '/v1//pets', '//v1/pets', '/%76%31/pets'),
  fc.array(segment, { maxLength: 4 }).map((parts) => `/x${parts.join('/')}`.slice(0, 4_000)),
);
const query = fc.constantFrom('', '?', '?limit=5', '?%zz=%ff&&=%00&limit');

const wrongAuthorization = fc.oneof(
  fc.constantFrom('X: x', 'Authorization:', 'Authorization: {key}', 'X-Authorization: Bearer {key}'),
  fc.constantFrom('Authorization: Bearer {key}x', `${AUTHORIZATION}\r\n${AUTHORIZATION}`),
  fc
    .string({ unit: fc.constantFrom('a', 'Z', '0', '_', ' ', '.', '\t', '\xe9'), maxLength: 50 })
    .map((text) => `Authorization: Bearer pets_staging_${text}`),
);
const withoutKey = fc
  .tuple(
    fc.oneof(
      fc.constant('POST /v1/pets'),
      petPath.map((path) => `GET ${path}`),
    ),
    query,
    wrongAuthorization,
  )
  .map(([request, parameters, field]): Message => {
    const text = head(`${request}${parameters} HTTP/1.1`, field);
    return { kind: 'missing key', method: 'any', text, expected: 401 };
  });

const otherMethods = ['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'].filter(
  (method) => ![...methodsByPath().values()].flat().includes(method),
);
const otherMethod = fc.tuple(fc.constantFrom(...otherMethods), petPath, fc.constant(405));
const otherUrl = fc.tuple(
  fc.constantFrom('GET', 'POST', 'HEAD', 'DELETE', 'M-SEARCH'),
  otherPath,
  fc.constant(404),
);
const unroutable = fc
  .tuple(fc.oneof(otherMethod, otherUrl), query, fc.constantFrom('X: x', AUTHORIZATION))
  .map(([[method, path, expected], parameters, field]): Message => {
    const text = head(`${method} ${path}${parameters} HTTP/1.1`, field);
    return { kind: expected === 405 ? 'other method' : 'other URL', method, text, expected };
  });

const badRequestLine = fc.oneof(
  fc
    .constantFrom('get /', 'PETS /', 'G\0T /', 'GE\xc9 /', '( /', 'GETGET /')
    .map((start) => `${start} HTTP/1.1`),
  fc
    .constantFrom('/\xe9', '', '/\0', '/\x7f', '/a\tb', 'v1/pets', ':80')
    .map((target) => `GET ${target} HTTP/1.1`),
  fc
    .constantFrom('', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/3.0', 'HTTP/x', 'http/1.1', 'ICE/1.0')
    .map((version) => `GET / ${version}`),
);
const badField = fc.oneof(
  fc.constantFrom('X', ': x', 'X : x', 'X\0: x', 'X: \0', 'X: a\rb', 'X\xe9: x', 'X(: x', 'Host: x'),
  fc.constantFrom('Content-Length: -1', 'Content-Length: 0x0', 'Content-Length: 1, 1'),
  fc.constantFrom('Transfer-Encoding: gzip', 'Transfer-Encoding: identity, chunked'),
);
const badChunk = fc.constantFrom('x', '-1', 'fffffffffffffffffffff', '5;\0', '1\r\nab', '1\r\na\r\nx', ';');
const invalid = fc.oneof(
  fc.constant('POST /v1/pets HTTP/1.1\r\n\r\n'), // no Host header
  badRequestLine.map((start) => head(start)),
  badField.map((field) => head('POST /v1/pets HTTP/1.1', field)),
  badChunk.map(
    (chunk) =>
      `${head('POST /v1/pets HTTP/1.1', AUTHORIZATION, 'Transfer-Encoding: chunked')}${chunk}\r\n\r\n`,
  ),
  // These messages have bodies that are longer than their Content-Length.
  fc
    .nat(BODY.length - 1)
    .map((length) => `${head('POST /v1/pets HTTP/1.1', AUTHORIZATION, `Content-Length: ${length}`)}${BODY}`),
  // These messages end in the middle of the headers or the body.
  fc
    .tuple(
      fc.constantFrom(
        `${head('POST /v1/pets HTTP/1.1', AUTHORIZATION, `Content-Length: ${BODY.length + 1}`)}${BODY}`,
        `${head('POST /v1/pets HTTP/1.1', AUTHORIZATION, 'Transfer-Encoding: chunked')}1\r\n{\r\n0\r\n`,
      ),
      fc.nat(),
    )
    .map(([text, end]) => text.slice(0, 1 + (end % text.length))),
);

const tooLong = fc.constantFrom(
  head(`GET /${'x'.repeat(10_240)} HTTP/1.1`),
  head('POST /v1/pets HTTP/1.1', 'X: x\r\n'.repeat(3_000).trim()),
);

const anyBytes = fc
  .tuple(
    fc.constantFrom('\x01', 'GET ', 'GET /', 'POST /v1/pets HTTP/1.1\r\n', 'HTTP/1.1 200 OK\r\n'),
    fc.uint8Array({ minLength: 1 }),
  )
  .map(([start, bytes]): Message => {
    const text = `${start}${Buffer.from(bytes).toString('latin1')}\r\n\r\n`;
    return { kind: 'random bytes', method: 'any', text };
  });

export const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  withoutKey,
  unroutable,
  invalid.map((text) => ({ kind: 'invalid HTTP', method: 'any', text, expected: 400 })),
  tooLong.map((text) => ({ kind: 'too long', method: 'any', text, expected: 431 })),
  anyBytes,
);
