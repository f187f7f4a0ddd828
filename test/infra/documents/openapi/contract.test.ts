import { expect, test } from '@jest/globals';
import { contract, type Exchange } from '../../../support/contract.ts';

// The HTTP tests compare responses with openapi.json. These tests prove that the comparison can fail.

const { responses, contradictions, examples } = contract();

/** Returns the example request of an operation and the example of a documented response. */
function documented(name: string): Exchange {
  const [operation = '', status] = name.split(' ');
  const request = examples[operation] ?? { method: 'GET', target: '/v1/orders', headers: {} };
  const { headers, example } = responses.get(name)!;
  const values = Object.entries(headers).map(([header, { example: value }]) => [header, value]);
  return {
    ...request,
    target: request.target.replace('/v1', ''),
    response: {
      status: Number(status),
      headers: { 'Content-Type': 'application/json', Date: 'today', ...Object.fromEntries(values) },
      text: JSON.stringify(example),
    },
  };
}

const listed = documented('listPets 200');
const created = documented('createPet 201');
const rejected: Exchange = { ...created, response: documented('createPet 400').response };
const message = 'cursor must be from a page of this list, or omitted.';
const lostCursor = withResponse(listed, {
  ...rejected.response,
  text: JSON.stringify({ code: 'invalid_request', message, status: 400 }),
});
const orders = documented('other 404');
const unknown = documented('getPet 404');

function withResponse(exchange: Exchange, response: Partial<Exchange['response']>): Exchange {
  return { ...exchange, response: { ...exchange.response, ...response } };
}

function withHeaders(exchange: Exchange, changed: Record<string, string>): Exchange {
  const before = Object.fromEntries(new Headers(exchange.response.headers));
  return withResponse(exchange, { headers: { ...before, ...changed } });
}

test.each<[string, Exchange, string]>([
  ['an undocumented status', withResponse(listed, { status: 418 }), 'is not documented'],
  ['an operation’s status for an unknown URL', withResponse(orders, { status: 401 }), 'is not documented'],
  [
    'an unknown URL for a valid pet id',
    withResponse(unknown, { text: orders.response.text }),
    'but the document contains it',
  ],
  ['an unknown pet for an invalid id', { ...unknown, target: '/pets/abc' }, 'but the document forbids it'],
  ['a different media type', withHeaders(listed, { 'content-type': 'text/html' }), 'text/html'],
  ['an undocumented header', withHeaders(listed, { 'X-Powered-By': 'us' }), 'x-powered-by'],
  [
    'a missing header',
    withResponse(created, { headers: rejected.response.headers }),
    'has no Location header',
  ],
  ['an invalid header', withHeaders(listed, { link: '<a>; rel="last"' }), 'Link must match pattern'],
  [
    'an undocumented field',
    withResponse(listed, { text: listed.response.text.replace('}', ',"age":1}') }),
    'properties',
  ],
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
    'an error for a surrogate pair',
    { ...rejected, body: String.raw`{"name":"\ud83d\udc15","categoryId":1}` },
    'but the document allows it',
  ],
  [
    'an error for the cursor and a valid parameter',
    withResponse(lostCursor, { text: lostCursor.response.text.replace('cursor', 'limit; cursor') }),
    'but the document allows it',
  ],
  [
    'an error for a cursor that was not sent',
    { ...lostCursor, target: '/pets' },
    'but the document allows it',
  ],
])('openapi.json forbids %s', (_what, exchange, problem) => {
  expect(contradictions(exchange)).toEqual([expect.stringContaining(problem)]);
});
