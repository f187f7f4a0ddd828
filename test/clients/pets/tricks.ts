import type { Behavior } from '../client-proxy.ts';

// These cases define what both clients in docs/clients must do with rare and wrong responses and settings. In all texts,
// {origin} stands for the scheme, host and port of the server, and {key} for the API key.

export interface Trick {
  title: string;
  baseUrl?: string;
  apiKey?: string;
  /** Idempotency key of the pet that the client creates. @default - the client lists all pets */
  idempotencyKey?: string;
  /** Whether an attempt fails after two seconds. */
  isImpatient?: boolean;
  responses: Behavior[];
  /** Targets of the requests that the client must send. */
  requests: string[];
  /** The shortest times between the requests, in milliseconds, with a tolerance for differences of clocks. */
  waits?: number[];
  /** `categoryId` of each pet that the client must print. */
  prints: bigint[];
  /** What the error must contain. @default - the client must succeed */
  error?: string;
}

const LIST = '/v1/pets?limit=100';
const pet = (categoryId: bigint) => `{"id":1,"name":"Rex","categoryId":${categoryId}}`;
const page = (categoryId: bigint, headers = {}): Behavior => ({
  status: 200,
  headers,
  body: `[${pet(categoryId)}]`,
});
const linkTo = (...targets: string[]) => ({
  Link: targets.map((target, index) => `<${target}>; rel="${index === 0 ? 'next' : 'prev'}"`).toReversed(),
});
const failure = (status: number, headers = {}): Behavior => ({
  status,
  headers: { 'x-amzn-RequestId': 'request-1', ...headers },
  body: JSON.stringify({ code: 'a_code', message: 'A message.', status }),
});
const FAILURE = 'a_code: A message. (request request-1)';
/** Makes a client retry at once. */
const NOW = { 'Retry-After': '0' };

const unsentTo = (baseUrl: string): Trick => ({
  title: `sends nothing to the base URL "${baseUrl}"`,
  baseUrl,
  responses: [],
  requests: [],
  prints: [],
  error: 'The base URL must start with',
});
const unsentWith = (apiKey: string): Trick => ({
  title: `sends nothing with the API key ${JSON.stringify(apiKey)}`,
  apiKey,
  responses: [],
  requests: [],
  prints: [],
  error: 'The API key must consist of',
});
const unfollowed = (target: string): Trick => ({
  title: `does not follow a link to ${target}`,
  responses: [page(1n, linkTo(target)), page(2n)],
  requests: [LIST],
  prints: [1n],
  error: 'The next page is not below {origin}/v1',
});
const retried = (title: string, response: Behavior): Trick => ({
  title: `retries after ${title}`,
  responses: [response, page(1n)],
  requests: [LIST, LIST],
  prints: [1n],
});
const thrown = (title: string, response: Behavior, error: string): Trick => ({
  title: `throws after ${title}`,
  responses: [response, page(1n)],
  requests: [LIST],
  prints: [],
  error,
});
const retryAfter = (value: string) => failure(503, { 'Retry-After': value });

export const tricks: Trick[] = [
  unsentTo(''),
  unsentTo('ftp://localhost/v1'),
  unsentTo('http://pets.example/v1'),
  unsentTo('http://localhost.pets.example/v1'),
  unsentTo('http://localhost@pets.example/v1'),
  unsentWith(''),
  unsentWith('{key}\nX-Key: x'),
  {
    title: 'ignores white space around the base URL and the key, and a slash after the base URL',
    baseUrl: ' {origin}/v1/\n',
    apiKey: ' {key}\n',
    responses: [page(1n)],
    requests: [LIST],
    prints: [1n],
  },

  {
    title: 'lists all pages, with exact integers',
    responses: [
      page(2n ** 63n - 1n, linkTo('{origin}/v1/pets?cursor=2&limit=100')),
      page(-(2n ** 63n), linkTo('{origin}/v1/pets/more?cursor=3', '{origin}/v1/pets?cursor=1')),
      page(2n ** 53n + 1n, { Link: '<{origin}/v1/pets?cursor=2>; rel="prev"' }),
    ],
    requests: [LIST, '/v1/pets?cursor=2&limit=100', '/v1/pets/more?cursor=3'],
    prints: [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n],
  },
  unfollowed('http://pets.example/v1/pets?cursor=2'),
  unfollowed('https://127.0.0.1/v1/pets?cursor=2'),
  unfollowed('{origin}@pets.example/v1/pets?cursor=2'),
  unfollowed('{origin}/v10/pets?cursor=2'),
  unfollowed('{origin}/v1/../v2/pets?cursor=2'),

  thrown('a redirect', { status: 307, headers: { Location: '{origin}/v1/pets' } }, '307: '),
  thrown('a 400', failure(400, NOW), `400 ${FAILURE}`),
  thrown('a 401', failure(401, NOW), `401 ${FAILURE}`),
  thrown('a 403 without an Error body', { status: 403, body: '{"message":"Forbidden"}' }, '403: Forbidden'),
  thrown('a 414 with HTML', { status: 414, body: '<h1>Too long</h1>' }, '414: <h1>Too long</h1>'),
  thrown('a 400 whose body is null', { status: 400, body: 'null' }, '400: null'),
  thrown(
    'a 400 with control characters and the API key',
    {
      status: 400,
      headers: { 'x-amzn-RequestId': '{key}\u009b1m' },
      body: String.raw`{"code":"a\u001b[1m{key}","message":"${'x'.repeat(980)}{key}\u009b1m\r\n\u0007"}`,
    },
    'x<API key> ',
  ),

  ...[408, 429, 500, 503].map((status) => retried(`a ${status}`, failure(status, NOW))),
  retried('a lost connection', 'lose'),
  retried('half a body', {
    status: 200,
    headers: { 'Content-Length': 99, Connection: 'close' },
    body: '[{',
  }),
  retried('HTML with a 200', { status: 200, headers: NOW, body: '<html></html>' }),
  { ...retried('a timeout', 'hang'), isImpatient: true },
  {
    ...retried('a body that never ends', { status: 200, body: '[', isEndless: true }),
    isImpatient: true,
  },
  { ...retried('Retry-After: 1', retryAfter('1')), waits: [950] },
  // These values are treated as if the header were absent.
  ...['-121', '121.5', 'soon', 'Fri, 31 Dec 9999 23:59:59 GMT'].map((value) =>
    retried(`Retry-After: ${value}`, retryAfter(value)),
  ),
  // Clients give up, because no retry starts after two minutes.
  thrown('Retry-After: 121', retryAfter('121'), `503 ${FAILURE}`),
  thrown('Retry-After: 999…', retryAfter('9'.repeat(5_000)), `503 ${FAILURE}`),
  {
    title: 'gives up after six attempts, between which it waits longer and longer',
    responses: Array(7).fill(failure(503, NOW)),
    requests: Array(6).fill(LIST),
    prints: [],
    waits: [8, 16, 32, 64, 128],
    error: `503 ${FAILURE}`,
  },

  {
    title: 'sends the same create again after a lost connection, a 503 and half a body',
    idempotencyKey: 'key-1',
    responses: [
      'lose',
      failure(503, NOW),
      { status: 201, headers: { ...NOW, 'Content-Length': 99, Connection: 'close' }, body: '{' },
      { status: 201, body: pet(1n) },
    ],
    requests: Array(4).fill('/v1/pets'),
    prints: [1n],
  },
  {
    title: 'sends no create without an idempotency key',
    idempotencyKey: '',
    responses: [],
    requests: [],
    prints: [],
    error: 'The idempotency key is missing.',
  },
];
