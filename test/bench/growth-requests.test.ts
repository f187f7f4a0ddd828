import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { stringifyJson } from '../../shared/contract/json.ts';
import type { Pet } from '../../shared/contract/schemas.ts';
import { FEWEST_PETS, pageOf } from './growth-pets.ts';
import { measure } from './growth-requests.ts';

// What a service answers is made up here: whether the benchmark finds what is wrong is looked at.

const REQUESTS = 2;
const all = pageOf(FEWEST_PETS, 1, FEWEST_PETS);
const available = all.filter(({ status }) => status === 'available');

interface Answer {
  status: number;
  body: unknown;
  link?: string;
}
/** Makes of a right answer, of a page or a pet by the path, what a broken service would. */
let spoil: (answer: Answer, path: string) => Answer;
let seen: string[];

const server = createServer((request, response) => void answer(request, response));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const store = { baseAddress: `${origin}/v1`, apiKey: 'the-key', stock: { pets: FEWEST_PETS, partitions: 1 } };

beforeEach(() => {
  spoil = (right) => right;
  seen = [];
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url!;
  seen.push(`${request.method} ${path}`);
  const right = request.method === 'POST' ? created(await text(request)) : read(path);
  const { status, body, link } = spoil(right, path);
  response.writeHead(status, link ? { Link: `<${origin}${link}>; rel="next"` } : {});
  response.end(stringifyJson(body));
}

function created(body: string): Answer {
  return { status: 201, body: { id: 2n ** 50n, ...JSON.parse(body) } };
}

function read(path: string): Answer {
  const { pathname, searchParams } = new URL(path, origin);
  if (pathname !== '/v1/pets') {
    return { status: 200, body: all.find(({ id }) => pathname.endsWith(`/${id}`)) };
  }
  const pets = searchParams.has('status') ? available : all;
  const [start, limit] = ['cursor', 'limit'].map((name) => Number(searchParams.get(name))) as [
    number,
    number,
  ];
  searchParams.set('cursor', `${start + limit}`);
  return {
    status: 200,
    body: pets.slice(start, start + limit),
    link: `${pathname}?${searchParams.toString()}`,
  };
}

test('each store is asked as often for each kind, the hundredth page by the link of the one before', async () => {
  const rows = await measure([store, store], REQUESTS);
  expect(rows.map(({ request, times }) => [request, times.length])).toEqual([
    ['list of 20', 2],
    ['list of 20, one status', 2],
    ['list of 5', 2],
    ['list of 5, one status', 2],
    ['list of 5, page 100', 2],
    ['list of 5, one status, page 100', 2],
    ['a pet', 2],
    ['create', 2],
  ]);
  for (const { p25, median, p75 } of rows.flatMap(({ times }) => times)) {
    expect([p25, median, p75]).toEqual([p25, median, p75].toSorted((one, other) => one - other));
  }
  const times = (line: string) => seen.filter((other) => other === line).length;
  expect(times('GET /v1/pets?limit=20')).toBe(2 * 2 * REQUESTS);
  expect(times('GET /v1/pets?limit=5&cursor=490')).toBe(2);
  expect(times('GET /v1/pets?limit=5&cursor=495')).toBe(2 * 2 * REQUESTS);
  expect(times('GET /v1/pets?limit=5&status=available&cursor=495')).toBe(2 * 2 * REQUESTS);
  expect(times('POST /v1/pets')).toBe(2 * 2 * REQUESTS);
  expect(new Set(seen.filter((line) => line.startsWith('GET /v1/pets/'))).size).toBe(2 * REQUESTS);
});

test.each<[what: string, path: RegExp, fault: (answer: Answer) => Answer]>([
  ['a page that lacks a pet', /cursor=495$/, withBody((pets: Pet[]) => pets.slice(1))],
  ['a page in another order', /limit=20$/, withBody((pets: Pet[]) => pets.toReversed())],
  ['a page of all for one of a status', /limit=20&status/, () => ({ status: 200, body: all.slice(0, 20) })],
  ['a page before the hundredth that is another', /cursor=250$/, withBody(() => all.slice(0, 5))],
  ['another pet', /pets\/\d+$/, withBody((pet: Pet) => ({ ...pet, id: pet.id + 1n }))],
  ['a refusal', /pets\/\d+$/, withBody(() => ({ code: 'internal_error' }))],
  ['a create that is not answered 201', /pets$/, ({ body }) => ({ status: 200, body })],
  ['a create of another pet', /pets$/, withBody((pet: Pet) => ({ ...pet, name: 'Max' }))],
])('%s is an error', async (_what, path, fault) => {
  spoil = (right, asked) => (path.test(asked) ? fault(right) : right);
  await expect(measure([store], REQUESTS)).rejects.toThrow(
    /^(?:GET|POST) http\S+ was answered 20\d .*, which does not fit the pets that are there\.$/,
  );
});

test('a page before the hundredth without a link to the next is an error', async () => {
  spoil = ({ link, ...rest }, asked) => (asked.endsWith('cursor=250') || !link ? rest : { ...rest, link });
  await expect(measure([store], REQUESTS)).rejects.toThrow(
    /^http\S+\?limit=5&cursor=250 should have a next page\.$/,
  );
});

function withBody(change: (body: any) => unknown): (answer: Answer) => Answer {
  return ({ body, ...rest }) => ({ ...rest, body: change(body) });
}
