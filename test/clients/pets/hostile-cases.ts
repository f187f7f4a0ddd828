import type { Behavior } from '../../support/client-proxy.ts';

// These cases define what every client in docs/clients must do with rare and wrong input. In all texts, {origin} stands
// for the scheme, host and port of the server, {host} for the host and port, {port} for the port, and {key} for a valid
// API key.

export interface HostileCase {
  title: string;
  /** Status and limit of the list, each empty if absent. */
  list?: [status: string, limit: string];
  /**
   * Pet that the client creates, as JSON, and the idempotency key. If the key is missing, the test uses a valid one.
   *
   * @default - the client lists pets
   */
  create?: { pet: string; key?: string };
  baseUrl?: string;
  apiKey?: string;
  /** Whether the client sends its requests through an HTTP proxy, so that requests to any host get the responses. */
  proxied?: boolean;
  /** Whether the client has a timeout of a second. */
  hasShortTimeout?: boolean;
  /** Responses in order. A function returns a response that depends on the time. */
  responses: (Behavior | (() => Behavior))[];
  /** URLs that the client requests in order, or paths at {origin}. */
  requests: string[];
  /** The shortest time between the first two requests, in milliseconds. */
  wait?: number;
  /** Body of each request, without white space. */
  sends?: string;
  /** Ids of the pets that the client prints. */
  prints: bigint[];
  /** Texts that the client's error must contain. @default - the client must succeed */
  fails?: (string | RegExp)[];
}

const FIRST = '/v1/pets?limit=100';
const PET = '{"name":"Rex","categoryId":9223372036854775807}';
const headers = { 'x-amzn-RequestId': 'a-1' };
const pets = (id: number) => `[{"id":${id},"name":"Rex","categoryId":7}]`;
const page = (id: number, Link?: string | string[]): Behavior => ({
  status: 200,
  headers: { ...headers, ...(Link !== undefined && { Link }) },
  body: pets(id),
});
const response = (status: number, body: string | Buffer, others = {}): Behavior => ({
  status,
  headers: { ...headers, ...others },
  body,
});
const failure = (status: number, others = {}) =>
  response(status, `{"code":"a_code","message":"A message.","status":${status}}`, others);
/** Returns the HTTP date (RFC 9110, 5.6.7) of the time in `seconds` seconds. */
const httpDate = (seconds: number) => new Date(Date.now() + 1_000 * seconds).toUTCString();

/** Returns the last two digits of the year in `years` years. */
function twoDigitYear(years: number): string {
  return `${new Date().getUTCFullYear() + years}`.slice(-2);
}

/** For each value of Retry-After, whether a client retries after at least `wait` milliseconds, or gives up at once. */
const retryAfterCases: [value: string | string[], outcome: { wait: number } | 'gives up'][] = [
  ['0', { wait: 0 }],
  ['00', { wait: 0 }],
  ['2', { wait: 1_950 }],
  ['002', { wait: 1_950 }],
  ['08', { wait: 7_950 }],
  ['\t2 ', { wait: 1_950 }],
  ['121', 'gives up'],
  ['0121', 'gives up'],
  ['2147483647', 'gives up'],
  ['2147483648', 'gives up'],
  ['4294967297', 'gives up'],
  ['9223372036854775807', 'gives up'],
  ['9223372036854775808', 'gives up'],
  ['18446744073709551617', 'gives up'],
  ['1'.repeat(400), 'gives up'],
  ['1'.repeat(5_000), 'gives up'],
  ['Sun, 06 Nov 1994 08:49:37 GMT', { wait: 0 }],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 'gives up'],
  // Recipients must accept the obsolete forms of a date too (RFC 9110, 5.6.7).
  ['Sunday, 06-Nov-94 08:49:37 GMT', { wait: 0 }],
  ['Wednesday, 31-Dec-31 23:59:59 GMT', 'gives up'],
  ['Sun Nov  6 08:49:37 1994', { wait: 0 }],
  ['Fri Dec 31 23:59:59 9999', 'gives up'],
  // A year of two digits is no more than 50 years ahead.
  [`Wednesday, 31-Dec-${twoDigitYear(49)} 23:59:59 GMT`, 'gives up'],
  [`Wednesday, 31-Dec-${twoDigitYear(51)} 23:59:59 GMT`, { wait: 0 }],
  ['Sun Nov  6 08:49:37 1950', { wait: 0 }],
  // Clients must treat all other values as if the header were absent.
  ['', { wait: 0 }],
  ['-121', { wait: 0 }],
  ['+121', { wait: 0 }],
  ['121.0', { wait: 0 }],
  ['1e3', { wait: 0 }],
  ['0x79', { wait: 0 }],
  ['121s', { wait: 0 }],
  ['1 21', { wait: 0 }],
  ['121²', { wait: 0 }],
  ['121, 121', { wait: 0 }],
  [['121', '121'], { wait: 0 }],
  ['soon', { wait: 0 }],
  ['"121"', { wait: 0 }],
  ['2999-12-31T23:59:59Z', { wait: 0 }],
  ['Fri, 31 Dec 9999 23:59:59 +0000', { wait: 0 }],
  ['Fri, 99 Dec 9999 23:59:59 GMT', { wait: 0 }],
  ['Fri, 31 Foo 9999 23:59:59 GMT', { wait: 0 }],
];

const retryAfter: HostileCase[] = retryAfterCases.map(([value, outcome]) => {
  const title = `Retry-After: ${JSON.stringify(value).slice(0, 60)}`;
  const responses = [failure(503, { 'Retry-After': value }), page(1)];
  return outcome === 'gives up'
    ? { title, responses, requests: [FIRST], prints: [], fails: ['503', 'a_code', 'A message.', 'a-1'] }
    : { title, responses, requests: [FIRST, FIRST], prints: [1n], ...outcome };
});

/** For each Link header, the path of the next page, 'end' if there is none, or the texts in the client's error. */
const linkCases: [link: string | string[], outcome: string | string[]][] = [
  // These links are of every kind of reference (RFC 3986, 4.2).
  ['<{origin}/v1/pets?cursor=2>; rel="next"', '/v1/pets?cursor=2'],
  ['<//{host}/v1/pets?cursor=2>; rel="next"', '/v1/pets?cursor=2'],
  ['</v1/pets?cursor=2>; rel="next"', '/v1/pets?cursor=2'],
  ['<pets?cursor=2>; rel="next"', '/v1/pets?cursor=2'],
  ['<./pets?cursor=2>; rel="next"', '/v1/pets?cursor=2'],
  ['<pets/2>; rel="next"', '/v1/pets/2'],
  ['<?cursor=2>; rel="next"', '/v1/pets?cursor=2'],
  ['<?cursor=2#fragment>; rel="next"', '/v1/pets?cursor=2'],
  ['<../v1/pets?cursor=2>; rel="next"', '/v1/pets?cursor=2'],
  ['<../../../v1/./pets?cursor=2>; rel="next"', '/v1/pets?cursor=2'],
  ['<HTTP://{host}/v1/pets?cursor=2>; rel="next"', '/v1/pets?cursor=2'],
  ['<?cursor=a,b;c=d>; rel="next"', '/v1/pets?cursor=a,b;c=d'],
  ['<?cursor=%2Fa%26b%2b>; rel="next"', '/v1/pets?cursor=%2Fa%26b%2b'],
  // These links have all forms of relation types and parameters (RFC 8288, 3).
  ['<?cursor=2>;rel=next', '/v1/pets?cursor=2'],
  ['<?cursor=2>; rel=NEXT', '/v1/pets?cursor=2'],
  ['<?cursor=2>; REL="Next"', '/v1/pets?cursor=2'],
  [' <?cursor=2>\t;  rel \t=  "next" ', '/v1/pets?cursor=2'],
  ['<?cursor=2>; rel="prev next"', '/v1/pets?cursor=2'],
  ['<?cursor=2>; rel="next  https://rels.example/last"', '/v1/pets?cursor=2'],
  ['<?cursor=2>; rel=" next "', '/v1/pets?cursor=2'],
  ['<?cursor=2>; title="a"; rel="next"', '/v1/pets?cursor=2'],
  ['<?cursor=2>; rel="next"; title="a"', '/v1/pets?cursor=2'],
  [`<?cursor=2>; title*=UTF-8'en'a%20b; rel=next; hreflang=en`, '/v1/pets?cursor=2'],
  ['<?cursor=2>; flag; rel=next', '/v1/pets?cursor=2'],
  ['<?cursor=2>;; rel=next;', '/v1/pets?cursor=2'],
  [String.raw`<?cursor=2>; title="a,b;c<d>\"; rel=prev, \\"; rel="next"`, '/v1/pets?cursor=2'],
  [String.raw`<?cursor=2>; title="\\\""; rel="next"`, '/v1/pets?cursor=2'],
  ['<?cursor=2>; rel="next"; rel="prev"', '/v1/pets?cursor=2'],
  ['<?cursor=1>; rel="prev"; rel="next"', 'end'],
  ['<?cursor=2>; rel="next"; anchor="/v1/others"', 'end'],
  ['<?cursor=2>; Anchor=x; rel="next"', 'end'],
  ['<?cursor=1>; rel="prev"; title="; rel=next"', 'end'],
  [String.raw`<?cursor=1>; rel="prev"; title="\"; rel=next; a=\""`, 'end'],
  ['<?cursor=1>; rel="prev"; title=", <?cursor=2>; rel=next"', 'end'],
  ['<?cursor=1>; rel="next-archive"', 'end'],
  ['<?cursor=1>; rel="https://rels.example/next"', 'end'],
  ['<?cursor=1>; xrel="next"; rel*=next', 'end'],
  ['<?cursor=1>; rel', 'end'],
  ['<?cursor=1>; rel=""', 'end'],
  ['<?cursor=1>', 'end'],
  ['', 'end'],
  // These headers contain several links.
  ['<?cursor=1>; rel="prev", <?cursor=2>; rel="next", <?cursor=3>; rel="last"', '/v1/pets?cursor=2'],
  ['<?cursor=1>; rel=prev,<?cursor=2>; rel=next', '/v1/pets?cursor=2'],
  ['<?cursor=1>,<?cursor=2>; rel=next', '/v1/pets?cursor=2'],
  [', ,<?cursor=2>; rel=next,', '/v1/pets?cursor=2'],
  ['<?cursor=1>; rel=prev; title="a, \\"b", <?cursor=2>; rel=next', '/v1/pets?cursor=2'],
  [['<?cursor=1>; rel="prev"', '<?cursor=2>; rel="next"'], '/v1/pets?cursor=2'],
  [['<?cursor=2>; rel="next"', '<?cursor=1>; rel="prev"'], '/v1/pets?cursor=2'],
  ['<?cursor=2>; rel="next", <?cursor=3>; rel="next"', '/v1/pets?cursor=2'],
  // These headers are malformed, or so long that a backtracking parser would hang.
  ['?cursor=1; rel="next"', 'end'],
  ['<?cursor=1; rel="next"', 'end'],
  ['<?cursor=1>; title="; rel="next', 'end'],
  [`<?cursor=1>; title="${'\\"'.repeat(6_000)}`, 'end'],
  ['<'.repeat(12_000), 'end'],
  [`<?cursor=1>${'; '.repeat(6_000)}`, 'end'],
  [`<?cursor=2>;${' '.repeat(6_000)}rel${' '.repeat(6_000)}=next`, '/v1/pets?cursor=2'],
  // The client must send the key only to URLs below the base URL.
  ['<http://other.example/v1/pets>; rel="next"', ['http://other.example/v1/pets', '{origin}/v1']],
  ['<//other.example/v1/pets>; rel="next"', ['http://other.example/v1/pets', '{origin}/v1']],
  ['<http://127.0.0.1:1/v1/pets>; rel="next"', ['http://127.0.0.1:1/v1/pets', '{origin}/v1']],
  ['<http://127.0.0.1/v1/pets>; rel="next"', ['http://127.0.0.1/v1/pets', '{origin}/v1']],
  ['<https://{host}/v1/pets>; rel="next"', ['https://{host}/v1/pets', '{origin}/v1']],
  ['<ftp://{host}/v1/pets>; rel="next"', ['ftp://{host}/v1/pets', '{origin}/v1']],
  ['<http://a:b@{host}/v1/pets?cursor=2>; rel="next"', ['{host}/v1/pets?cursor=2', '{origin}/v1']],
  ['<{origin}@other.example/v1/pets>; rel="next"', ['other.example', '{origin}/v1']],
  [String.raw`<{origin}\@other.example/v1/pets>; rel="next"`, ['other.example', '{origin}/v1']],
  ['<{origin}.other.example/v1/pets>; rel="next"', ['other.example', '{origin}/v1']],
  ['<http://[a/v1/pets>; rel="next"', ['http://[a/v1/pets', '{origin}/v1']],
  ['<?cursor=a b>; rel="next"', ['cursor=a', '{origin}/v1']],
  ['<?cursor=a\tb>; rel="next"', ['cursor=a', '{origin}/v1']],
  ['<?cursor=a\u009b31mb>; rel="next"', ['cursor=a', '{origin}/v1']],
  ['</v2/{key}>; rel="next"', ['{origin}/v2/<API key>', '{origin}/v1']],
  ['<data:,a>; rel="next"', ['data:,a', '{origin}/v1']],
  ['</v2/pets>; rel="next"', ['{origin}/v2/pets', '{origin}/v1']],
  ['</v10/pets>; rel="next"', ['{origin}/v10/pets', '{origin}/v1']],
  ['</v1>; rel="next"', ['{origin}/v1']],
  ['<../admin>; rel="next"', ['{origin}/admin', '{origin}/v1']],
  ['</v1/../admin>; rel="next"', ['{origin}', '{origin}/v1']],
  ['</v1/%2e%2E/admin>; rel="next"', ['{origin}', '{origin}/v1']],
  ['</v1/.%2e/admin>; rel="next"', ['{origin}', '{origin}/v1']],
  // These links lead to the same page again, so a client that follows them never ends.
  ['<>; rel="next"', ['{origin}/v1/pets?limit=100']],
  ['<#page2>; rel="next"', ['{origin}/v1/pets?limit=100']],
  ['<?limit=100>; rel="next"', ['{origin}/v1/pets?limit=100']],
  ['</v1/x/../pets?limit=100>; rel="next"', ['{origin}/v1/pets?limit=100']],
];

const links: HostileCase[] = linkCases.map(([link, outcome]) => {
  const title = `Link: ${JSON.stringify(link).slice(0, 90)}`;
  const responses = [page(1, link), page(2)];
  if (outcome === 'end') return { title, responses, requests: [FIRST], prints: [1n] };
  if (typeof outcome === 'string') return { title, responses, requests: [FIRST, outcome], prints: [1n, 2n] };
  return { title, responses, requests: [FIRST], prints: [1n], fails: outcome };
});

const morePages: HostileCase[] = [
  {
    title: 'relative links of later pages, which are relative to these pages',
    responses: [page(1, '<pets/more/2>; rel=next'), page(2, '<3?a>; rel=next'), page(3)],
    requests: [FIRST, '/v1/pets/more/2', '/v1/pets/more/3?a'],
    prints: [1n, 2n, 3n],
  },
  {
    title: 'a link to a page before the previous one',
    responses: [page(1, '<?a=1>; rel=next'), page(2, '<?a=2>; rel=next'), page(3, '<?a=1>; rel=next')],
    requests: [FIRST, '/v1/pets?a=1', '/v1/pets?a=2'],
    prints: [1n, 2n, 3n],
    fails: ['{origin}/v1/pets?a=1'],
  },
  {
    title: 'a link with the API key to a page before the previous one',
    responses: [page(1, '<?a={key}>; rel=next'), page(2, '<?a={key}>; rel=next')],
    requests: [FIRST, '/v1/pets?a={key}'],
    prints: [1n, 2n],
    fails: ['{origin}/v1/pets?a=<API key>'],
  },
  {
    title: 'a link in an error response, which is not the list',
    responses: [failure(503, { Link: '<?a=1>; rel=next', 'Retry-After': '0' }), page(1)],
    requests: [FIRST, FIRST],
    prints: [1n],
  },
];

/** For each response, the texts in the client's error, or 'retries' if the client must retry. */
const responseCases: [title: string, response: Behavior, outcome: (string | RegExp)[] | 'retries'][] = [
  [
    'a body that is cut without a lost connection',
    response(200, '[{"id":1,"name"'),
    ['200', 'a-1', '"name"'],
  ],
  ['HTML', response(200, '<html>Sign in</html>'), ['200', 'a-1', '<html>']],
  ['an empty body', response(200, ''), ['200', 'a-1']],
  ['a 204', response(204, ''), ['204', 'a-1']],
  ['an object instead of an array', response(200, '{"message":"x"}'), ['200', 'a-1', 'message']],
  ['null instead of an array', response(200, 'null'), ['200', 'a-1', 'null']],
  ['a text instead of an array', response(200, '"[]"'), ['200', 'a-1']],
  ['JSON and more', response(200, `${pets(1)} x`), ['200', 'a-1']],
  [
    'a body that is not UTF-8',
    response(200, Buffer.from('[{"id":1,"name":"é","categoryId":7}]', 'latin1')),
    ['200', 'a-1'],
  ],
  ['a byte order mark before the JSON', response(200, `\ufeff${pets(1)}`), ['200', 'a-1']],
  ['NaN in JSON', response(200, '[{"id":1,"name":"Rex","categoryId":NaN}]'), ['200', 'a-1', 'NaN']],
  ['the API key in HTML', response(200, '<p>Bearer {key}</p>'), ['200', 'a-1', '<p>Bearer <API key></p>']],
  ['deeply nested JSON', response(200, '['.repeat(100_000)), ['200', 'a-1']],
  ['a 401', failure(401), ['401', 'a_code', 'A message.', 'a-1']],
  [
    'a 400 without a request id',
    { status: 400, body: '{"code":"a_code","message":"A message.","status":400}' },
    ['400', 'a_code', 'A message.'],
  ],
  ['a 403 without an Error body', response(403, '{"message":"Forbidden"}'), ['403', 'Forbidden', 'a-1']],
  [
    'a 403 with the API key in all texts',
    response(403, '{"code":"{key}","message":"Bearer {key}","status":403}', { 'x-amzn-RequestId': '{key}' }),
    ['403', 'Bearer <API key>', 'request <API key>'],
  ],
  [
    'a 403 with the API key where the message is cut',
    response(403, `${'x'.repeat(980)}{key}`),
    ['403', 'x<API key>', 'a-1'],
  ],
  ['a 403 with the API key in HTML', response(403, '<p>{key}</p>'), ['403', '<p><API key></p>', 'a-1']],
  [
    'a 400 with control characters',
    response(400, String.raw`{"code":"a_\u001b[31m","message":"A\u001b[31m\u009b31m\u0007 b","status":400}`, {
      'x-amzn-RequestId': 'a-1\u009b31m',
    }),
    ['400', 'a-1'],
  ],
  [
    'a 400 with a code and no message',
    response(400, '{"code":"a_code"}'),
    ['400', '{"code":"a_code"}', 'a-1'],
  ],
  ['a 403 with HTML', response(403, '<html>Denied</html>'), ['403', '<html>Denied', 'a-1']],
  ['a 400 without a body', response(400, ''), ['400', 'a-1']],
  ['a 400 whose body is an array', response(400, '[1]'), ['400', '[1]', 'a-1']],
  ['a 400 whose body is null', response(400, 'null'), ['400', 'null', 'a-1']],
  ['a 400 whose code is a number', response(400, '{"code":5,"message":["x"]}'), ['400', 'x', 'a-1']],
  ['a 400 with deeply nested JSON', response(400, '['.repeat(100_000)), ['400', '[[[', 'a-1']],
  [
    'a 400 with bytes that are not UTF-8',
    response(400, Buffer.from('Bad \xff', 'latin1')),
    ['400', 'Bad ', 'a-1'],
  ],
  ...[404, 405, 413, 414, 415, 418, 422].map((status): (typeof responseCases)[number] => [
    `a ${status}`,
    failure(status, { 'Retry-After': '0' }),
    [`${status}`, 'a_code', 'a-1'],
  ]),
  ...[300, 301, 302, 303, 304, 307, 308].map((status): (typeof responseCases)[number] => [
    `a ${status}, which is not followed`,
    response(status, '', { Location: '{origin}/v1/pets?limit=100&x' }),
    [`${status}`, 'a-1'],
  ]),
  ...[408, 429, 500, 502, 503, 504, 599].map((status): (typeof responseCases)[number] => [
    `a ${status}`,
    failure(status, { 'Retry-After': '0' }),
    'retries',
  ]),
  ['a 502 with HTML', response(502, '<html>Bad gateway</html>', { 'Retry-After': '0' }), 'retries'],
  ['a reset connection', 'reset', 'retries'],
  ['a connection that is closed within the headers', { raw: 'HTTP/1.1 200 OK\r\nContent-Ty' }, 'retries'],
  ['a connection that is closed after a 100', { raw: 'HTTP/1.1 100 Continue\r\n\r\n' }, 'retries'],
  ['a connection that is closed after a 103', { raw: 'HTTP/1.1 103 Early Hints\r\n\r\n' }, 'retries'],
  [
    'a body that is shorter than its Content-Length',
    response(200, '[]', { 'Content-Length': '5', Connection: 'close' }),
    'retries',
  ],
];

const responses: HostileCase[] = responseCases.map(([title, first, outcome]) =>
  outcome === 'retries'
    ? { title, responses: [first, page(1)], requests: [FIRST, FIRST], prints: [1n] }
    : { title, responses: [first, page(1)], requests: [FIRST], prints: [], fails: outcome },
);

const timeouts: HostileCase[] = [
  {
    title: 'a body that never ends',
    hasShortTimeout: true,
    responses: [{ status: 200, headers, body: '[', isEndless: true }, page(1)],
    requests: [FIRST, FIRST],
    prints: [1n],
  },
  ...[
    ['status line', 'HTTP/1.1 200 O'],
    ['header', 'HTTP/1.1 200 OK\r\nX-Header: x'],
    ['interim response', 'HTTP/1.1 100 Continue\r\nX-Header: x'],
    ['chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n1;x='],
    ['trailer', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\nX-Trailer: x'],
  ].map(([part, raw = '']) => ({
    title: `a ${part} that never ends`,
    hasShortTimeout: true,
    responses: [{ raw, isEndless: true }, page(1)],
    requests: [FIRST, FIRST],
    prints: [1n],
  })),
  {
    title: 'no response',
    hasShortTimeout: true,
    responses: ['hang', page(1)],
    requests: [FIRST, FIRST],
    prints: [1n],
  },
];

const creates: HostileCase[] = [
  ['an array instead of an object', '[]'],
  ['null instead of an object', 'null'],
  ['HTML', '<html></html>'],
  ['an empty body', ''],
  ['a cut body', '{"id":1,"name":"Rex","categoryId":7'],
].map(([title = '', body = '']) => ({
  title: `${title} after a create`,
  create: { pet: PET },
  responses: [response(201, body)],
  requests: ['/v1/pets'],
  sends: PET,
  prints: [],
  fails: ['201', 'a-1'],
}));

const absent: HostileCase[] = [
  { title: 'no status and no limit', list: ['', ''], responses: [page(1)], requests: [FIRST], prints: [1n] },
  {
    title: 'a status and no limit',
    list: ['sold', ''],
    responses: [page(1)],
    requests: ['/v1/pets?limit=100&status=sold'],
    prints: [1n],
  },
  {
    title: 'a limit and no status',
    list: ['', '5'],
    responses: [page(1)],
    requests: ['/v1/pets?limit=5'],
    prints: [1n],
  },
  {
    title: 'a pet without a status',
    create: { pet: PET },
    responses: [response(201, '{"id":1,"name":"Rex","categoryId":7}')],
    requests: ['/v1/pets'],
    sends: PET,
    prints: [1n],
  },
];

const accepted = (
  title: string,
  baseUrl: string,
  request: string,
  others: Partial<HostileCase> = {},
): HostileCase => ({
  title: `the base URL ${title}`,
  baseUrl,
  responses: [page(1)],
  requests: [request],
  prints: [1n],
  ...others,
});
const rejected = (baseUrl: string): HostileCase => ({
  title: `the base URL ${JSON.stringify(baseUrl)}`,
  baseUrl,
  responses: [],
  requests: [],
  prints: [],
  fails: [/base URL must/],
});
/** Every kind of character that a path can contain (RFC 3986, 3.3). */
const PATH = "/~me@x/a:b/-._!$&'()*+,;=/%5B%c3%a9";
const proxied = { proxied: true };
const baseUrls: HostileCase[] = [
  accepted('with a slash at the end', '{origin}/v1/', FIRST),
  accepted('with slashes at the end', '{origin}/v1///', FIRST),
  accepted('with white space around it', ' \t{origin}/v1\r\n', FIRST),
  accepted('with an upper-case scheme', 'HTTP://{host}/v1', FIRST),
  accepted(
    'with an upper-case host',
    'http://LOCALHOST:{port}/v1',
    'http://localhost:{port}/v1/pets?limit=100',
  ),
  accepted('without a path', '{origin}', '/pets?limit=100'),
  accepted('with only a slash as path', '{origin}/', '/pets?limit=100'),
  accepted('with a longer path', '{origin}/A-b/c.d/v1', '/A-b/c.d/v1/pets?limit=100'),
  accepted(
    'with the default port',
    'http://Pets.Example:80/v1/',
    'http://pets.example/v1/pets?limit=100',
    proxied,
  ),
  accepted(
    'with the default port after zeros',
    'http://pets.example:00080/v1',
    'http://pets.example/v1/pets?limit=100',
    proxied,
  ),
  accepted('with zeros before the port', 'http://127.0.0.1:0{port}/v1', FIRST),
  accepted('with all characters of a path', `{origin}${PATH}/v1`, `${PATH}/v1/pets?limit=100`, {
    responses: [page(1, '<?a=2>; rel=next'), page(2)],
    requests: [`${PATH}/v1/pets?limit=100`, `${PATH}/v1/pets?a=2`],
    prints: [1n, 2n],
  }),
  accepted('with an empty port', 'http://pets.example:/v1', 'http://pets.example/v1/pets?limit=100', proxied),
  accepted(
    'with the other default port',
    'http://pets.example:443/v1',
    'http://pets.example:443/v1/pets?limit=100',
    proxied,
  ),
  accepted(
    'without the port of the next page',
    'http://pets.example/v1',
    'http://pets.example/v1/pets?limit=100',
    {
      ...proxied,
      responses: [page(1, '<HTTP://PETS.example:80/v1/pets?cursor=2>; rel=next'), page(2)],
      requests: ['http://pets.example/v1/pets?limit=100', 'http://pets.example/v1/pets?cursor=2'],
      prints: [1n, 2n],
    },
  ),
  ...[
    '',
    ' ',
    'localhost',
    'localhost:3000/v1',
    '/v1',
    '//{host}/v1',
    'http:{host}/v1',
    'http:///v1',
    'http://:{port}/v1',
    'http://user:hunter2@{host}/v1',
    'http://hunter2@{host}/v1',
    '{origin}/v1?',
    '{origin}/v1?a=b',
    '{origin}/v1#',
    '{origin}/v1#a',
    'ftp://{host}/v1',
    'file:///v1',
    'http://127.0.0.1:65536/v1',
    'http://127.0.0.1:x/v1',
    'http://pets example/v1',
    'http://pets.example\\v1',
    '{origin}/v 1',
    '{origin}/v\n1',
    '{origin}/\u0007v1',
    'http://[::1/v1',
    'http://127.0.0.1:0/v1',
    'http://127.0.0.1:000/v1',
    '{origin}/./v1',
    '{origin}/a/../v1',
    '{origin}/v1/..',
    '{origin}/v1/./',
    '{origin}/%2e%2E/v1',
    '{origin}/a%2eb/v1',
    '{origin}/v%1',
    '{origin}/v%zz',
    ...'"<>[]^`{|}'.split('').map((character) => `{origin}/v${character}1`),
  ].map(rejected),
];

const apiKeys: HostileCase[] = [
  ...['{key}\n', '{key}\r\n', ' {key}', '\t{key} \n\n'].map((apiKey) => ({
    title: `the API key ${JSON.stringify(apiKey)}`,
    apiKey,
    responses: [page(1)],
    requests: [FIRST],
    prints: [1n],
  })),
  ...[
    '',
    ' \n',
    '{key}\n{key}',
    '{key} {key}',
    '{key}\r\nX-Key: x',
    '{key}\u0007',
    '\u001b{key}',
    '{key}é',
    '“{key}”',
    '{key}\u00a0x',
  ].map((apiKey) => ({
    title: `the API key ${JSON.stringify(apiKey)}`,
    apiKey,
    responses: [],
    requests: [],
    prints: [],
    fails: [/API key must/],
  })),
];

const idempotencyKeys: HostileCase[] = ['', ' ', '\n', 'a\r\nX-Key: b', 'é', '\u0007'].map((key) => ({
  title: `the idempotency key ${JSON.stringify(key)}`,
  create: { pet: PET, key },
  responses: [],
  requests: [],
  prints: [],
  fails: [/idempotency key/i, /generate/i, /store/i],
}));

export const hostileCases: HostileCase[] = [
  ...retryAfter,
  {
    // An HTTP date has no fractions of a second, so the client waits between two and three seconds.
    title: 'Retry-After: a date in three seconds',
    responses: [() => failure(503, { 'Retry-After': httpDate(3) }), page(1)],
    requests: [FIRST, FIRST],
    wait: 1_950,
    prints: [1n],
  },
  ...links,
  ...morePages,
  ...responses,
  ...timeouts,
  ...creates,
  ...absent,
  ...baseUrls,
  ...apiKeys,
  ...idempotencyKeys,
];
