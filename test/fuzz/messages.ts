import * as fc from 'fast-check';
import { methodsByPath } from '../../shared/contract/gateway-responses.ts';
import { characterOf } from './cases.ts';
import { segment } from './reads.ts';

// Messages to the service that are no call of an operation: other addresses and methods, no key, and what is not HTTP.

export interface Message {
  kind: string;
  /** Each character is a byte; `{key}` is the place of a key that works. */
  text: string;
  method: string;
  /** Whether nothing is left to be sent. */
  isWhole: boolean;
  /** The statuses it may be answered with; without, any but 201 and 5xx. */
  expected?: number[];
}

const line = '\r\n';
const host = `Host: localhost${line}`;
const authorization = `Authorization: Bearer {key}${line}`;
const body = '{"name":"Rex","categoryId":5}';
const ours = fc.oneof(
  fc.constant('/v1/pets'),
  segment.filter((part) => part.length < 100).map((part) => `/v1/pets/${part}`),
);
const query = fc.constantFrom('', '?', '?limit=5', '?%zz=%ff&&=%00&limit');

function whole(kind: string, method: string, text: string, expected?: number[]): Message {
  return { kind, method, text, isWhole: true, ...(expected && { expected }) };
}

const withoutKey: fc.Arbitrary<Message> = fc
  .tuple(
    fc.constantFrom<[string, (path: string) => string][]>(
      ['GET', (path) => path],
      ['POST', () => '/v1/pets'],
    ),
    ours,
    query,
    fc.oneof(
      fc.constantFrom(
        '',
        'Authorization:',
        'Authorization: Bearer',
        'Authorization: {key}',
        'Authorization: Basic {key}',
      ),
      fc.constantFrom(
        'Authorization: Bearer {key}x',
        `${authorization}${authorization.trim()}`,
        'X-Authorization: Bearer {key}',
      ),
      fc
        .string({ unit: characterOf('azAZ09_ .\t\xe9'), maxLength: 50 })
        .map((text) => `Authorization: Bearer pets_staging_${text}`),
    ),
  )
  .map(([[method, address], path, parameters, field]) =>
    whole(
      'no key',
      method,
      `${method} ${address(path)}${parameters} HTTP/1.1${line}${host}${field}${field && line}${line}`,
      [401],
    ),
  );

function isOfNoOperation(method: string): boolean {
  return ![...methodsByPath().values()].flat().includes(method);
}

const otherMethod: fc.Arbitrary<Message> = fc
  .tuple(
    fc.constantFrom(
      ...['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'].filter(isOfNoOperation),
    ),
    ours,
    query,
    fc.constantFrom('', authorization),
  )
  .map(([method, path, parameters, field]) =>
    whole(
      'other method',
      method,
      `${method} ${path}${parameters} HTTP/1.1${line}${host}${field}${line}`,
      [405],
    ),
  );

/** Paths, of which none begins like ours. */
const elsewhere = fc.oneof(
  fc.constantFrom(
    '/',
    '/v1',
    '/v2/pets',
    '/V1/pets',
    '/v1/pet',
    '/v1/pets/1/2',
    '/v1//pets',
    '//v1/pets',
    '/%76%31/pets',
    '/.env',
  ),
  fc.array(segment, { maxLength: 4 }).map((parts) => `/x${parts.join('/')}`.slice(0, 4_000)),
);
const otherAddress: fc.Arbitrary<Message> = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'HEAD', 'DELETE', 'M-SEARCH'),
    elsewhere,
    query,
    fc.constantFrom('', authorization),
  )
  .map(([method, path, parameters, field]) =>
    whole(
      'other address',
      method,
      `${method} ${path}${parameters} HTTP/1.1${line}${host}${field}${line}`,
      [404],
    ),
  );

const noMethod = fc.constantFrom('get', 'PETS', 'G\0T', 'GE\xc9', 'GET\t', '(', '"GET"', 'GETGET');
const noTarget = fc.constantFrom(
  '/\xe9',
  '/v1/pets/\xc3\xa9',
  '/v1/pets?\xff',
  '',
  '/a b',
  '/\0',
  '/\x7f',
  '/a\tb',
  'v1/pets',
  '/v1/pets HTTP/1.1 x',
  ':80',
  '\\',
);
const noVersion = fc.constantFrom(
  '',
  'HTTP/1.2',
  'HTTP/3.0',
  'HTTP/11',
  'HTTP/1',
  'HTTP/x',
  'http/1.1',
  'ICE/1.0',
  'HTTP/1.1 x',
  'HTTPS/1.1',
);
const noHeaders = fc.constantFrom(
  'X',
  ': x',
  'X : x',
  ' X: x',
  'X\0: x',
  'X: \0',
  'X: a\rb',
  'X\xe9: x',
  'X(: x',
  `X: ${'x'.repeat(11_000)}`,
  `X: x${line}`.repeat(3_000).trim(),
  'Content-Length: x',
  'Content-Length: -1',
  'Content-Length: 0x0',
  'Content-Length: 1, 1',
  'Content-Length: 99999999999999999999999',
  `Content-Length: 0${line}Content-Length: 1`,
  `Content-Length: 1${line}Transfer-Encoding: chunked`,
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: chunked, gzip',
  'Host: x',
  'Host: a b',
);
const noHost = fc.constantFrom('Host:', 'Host: a/b', 'Host: \xe9', 'Host: "x"', `Host: a${line}Host: b`);

/** What has one thing that HTTP does not allow, or the service does not take. */
const noRequest: fc.Arbitrary<Message> = fc
  .oneof(
    fc.tuple(noMethod, ours).map(([method, path]) => `${method} ${path} HTTP/1.1${line}${host}${line}`),
    noTarget.map((target) => `GET ${target} HTTP/1.1${line}${host}${line}`),
    fc.tuple(ours, noVersion).map(([path, version]) => `GET ${path} ${version}${line}${host}${line}`),
    fc
      .tuple(ours, noHeaders)
      .map(([path, fields]) => `POST ${path} HTTP/1.1${line}${host}${fields}${line}${line}`),
    noHost.map((fields) => `GET /v1/pets HTTP/1.1${line}${fields}${line}${authorization}${line}`),
    fc
      .constantFrom('x', '-1', 'fffffffffffffffffffff', '5;\0', '1\r\nab', '1\r\na\r\nx', ';')
      .map(
        (chunk) =>
          `POST /v1/pets HTTP/1.1${line}${host}${authorization}Transfer-Encoding: chunked${line}${line}${chunk}${line}${line}`,
      ),
    fc.constantFrom(
      'CONNECT a:80 HTTP/1.1\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x16\x03\x01\0\xa5\x01\0\0\xa1\x03\x03',
    ),
  )
  .map((text) => whole('no HTTP', 'any', text, [400]));

const anyBytes: fc.Arbitrary<Message> = fc
  .tuple(
    fc.constantFrom('', 'GET ', 'GET /', 'POST /v1/pets HTTP/1.1\r\n', 'HTTP/1.1 200 OK\r\n'),
    fc.uint8Array({ minLength: 1 }),
  )
  .map(([start, bytes]) => `${start}${Buffer.from(bytes).toString('latin1')}${line}${line}`)
  // Empty lines before a request are none yet (RFC 9112 section 2.2).
  .map((text) => whole('any bytes', 'any', `\x01${text}`.slice(/^[A-Z]/.test(text) ? 1 : 0)));

/** A request that ends too soon: within its head, or before its body is whole. */
const cutShort: fc.Arbitrary<Message> = fc
  .tuple(
    fc.constantFrom(
      `Content-Length: ${body.length + 1}${line}${line}${body}`,
      `Transfer-Encoding: chunked${line}${line}${body.length.toString(16)}${line}${body}`,
      `Transfer-Encoding: chunked${line}${line}1${line}{${line}0${line}`,
    ),
    fc.nat(),
  )
  .map(([rest, end]) => {
    const text = `POST /v1/pets HTTP/1.1${line}${host}${authorization}${rest}`;
    return {
      kind: 'cut short',
      method: 'any',
      text: text.slice(0, 1 + (end % text.length)),
      isWhole: false,
      expected: [400],
    };
  });

/** A body that goes on behind its end. */
const lengthTooSmall: fc.Arbitrary<Message> = fc
  .integer({ min: 0, max: body.length - 1 })
  .map(
    (length) =>
      `POST /v1/pets HTTP/1.1${line}${host}${authorization}Content-Length: ${length}${line}${line}${body}`,
  )
  .map((text) => whole('length too small', 'any', text, [400]));

export const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  withoutKey,
  otherMethod,
  otherAddress,
  noRequest,
  anyBytes,
  cutShort,
  lengthTooSmall,
);
