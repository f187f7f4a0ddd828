import { expect, test } from '@jest/globals';
import { contract, type Exchange } from '../../../support/contract.ts';

// What holds the HTTP tests against openapi.json must be able to fail. That it allows what is right, they show.

const common = {
  'Content-Type': 'application/json',
  'x-amzn-RequestId': 'd1ae6f8c-8b54-4ecd-a3f0-1d9fdc9a4d0e',
  'Cache-Control': 'no-store',
};
const pet = '{"id":1,"name":"Rex","categoryId":7}';

const listed: Exchange = {
  method: 'GET',
  target: '/pets?limit=5',
  headers: {},
  answer: { status: 200, headers: { ...common, Date: 'today', 'Content-Length': '2' }, text: `[${pet}]` },
};
const created: Exchange = {
  method: 'POST',
  target: '/pets',
  headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'a' },
  body: '{"name":"Rex","categoryId":9223372036854775807}',
  answer: {
    status: 201,
    headers: { ...common, Location: 'https://petstore.example.com/v1/pets/1' },
    text: '{"id":1,"name":"Rex","categoryId":9223372036854775807}',
  },
};
const refused: Exchange = {
  ...created,
  body: '{"name":"Rex"}',
  answer: {
    status: 400,
    headers: common,
    text: '{"code":"invalid_request","message":"categoryId is required.","status":400}',
  },
};
const lostCursor: Exchange = {
  ...listed,
  target: '/pets?cursor=a',
  answer: {
    ...refused.answer,
    text: refused.answer.text.replace(
      'categoryId is required',
      'cursor is not from a page of this list: start again without it',
    ),
  },
};
const orders: Exchange = {
  ...listed,
  target: '/orders',
  answer: {
    status: 404,
    headers: common,
    text: '{"code":"not_found","message":"There is nothing at this address.","status":404}',
  },
};
const unknown: Exchange = {
  ...listed,
  target: '/pets/1',
  answer: {
    status: 404,
    headers: {
      ...common,
      Deprecation: '@1795219200',
      Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
      Link: '<https://a/v1/pets>; rel="successor-version"',
    },
    text: '{"code":"not_found","message":"There is no pet with the id 1.","status":404}',
  },
};

function answering(exchange: Exchange, answer: Partial<Exchange['answer']>): Exchange {
  return { ...exchange, answer: { ...exchange.answer, ...answer } };
}

function withHeaders(exchange: Exchange, changed: Record<string, string>): Exchange {
  const before = Object.fromEntries(new Headers(exchange.answer.headers));
  return answering(exchange, { headers: { ...before, ...changed } });
}

const { contradictions } = contract();

test.each<[string, Exchange, string]>([
  ['an undocumented status', answering(listed, { status: 418 }), 'is not documented'],
  ['a status of no operation', answering(orders, { status: 401 }), 'is not documented'],
  [
    'no such address for a pet that may be',
    answering(unknown, { text: orders.answer.text }),
    'but the document has it',
  ],
  ['no such pet for what is no id', { ...unknown, target: '/pets/abc' }, 'but the document forbids it'],
  ['another media type', withHeaders(listed, { 'content-type': 'text/html' }), 'text/html'],
  ['an undocumented header', withHeaders(listed, { 'X-Powered-By': 'us' }), 'x-powered-by'],
  ['a missing header', answering(created, { headers: common }), 'lacks the header Location'],
  ['an invalid header', withHeaders(listed, { Link: '<a>; rel="last"' }), 'Link must match pattern'],
  ['an undocumented member', answering(listed, { text: `[${pet.replace('}', ',"age":1}')}]` }), 'properties'],
  [
    'a success with a forbidden limit',
    { ...listed, target: '/pets?limit=101' },
    'forbids the request: limit must be <= 100',
  ],
  [
    'a success with a forbidden body',
    { ...created, body: '{"name":" ","categoryId":1}' },
    'forbids the request: body/name',
  ],
  [
    'a success with a forbidden header',
    { ...created, headers: { 'Idempotency-Key': 'a b' } },
    'forbids the request: Idempotency-Key',
  ],
  [
    'an error for a pair of surrogates',
    { ...refused, body: String.raw`{"name":"\ud83d\udc15","categoryId":1}` },
    'but the document allows it',
  ],
  [
    'an error for more than the cursor',
    answering(lostCursor, { text: lostCursor.answer.text.replace('cursor', 'limit; cursor') }),
    'but the document allows it',
  ],
  [
    'an error for a cursor that is not there',
    { ...lostCursor, target: '/pets' },
    'but the document allows it',
  ],
])('openapi.json forbids %s', (_what, exchange, problem) => {
  expect(contradictions(exchange)).toEqual([expect.stringContaining(problem)]);
});
