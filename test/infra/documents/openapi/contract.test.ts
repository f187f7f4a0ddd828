import { expect, test } from '@jest/globals';
import { contract, type Exchange } from '../../../support/contract.ts';

// The HTTP tests compare responses with openapi.json. These tests prove that the comparison reports contradictions.

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

test.each<[problem: string, Exchange]>([
  ['is not documented', withResponse(listed, { status: 418 })],
  ['is not documented', withResponse(orders, { status: 401 })],
  ['but the document contains the path', withResponse(unknown, { text: orders.response.text })],
  ['does not allow the id', { ...unknown, target: '/pets/abc' }],
  ['has a wrong media type: text/html', withHeaders(listed, { 'content-type': 'text/html' })],
  ['has an undocumented header: x-powered-by', withHeaders(listed, { 'X-Powered-By': 'us' })],
  ['has no Location header', withResponse(created, { headers: rejected.response.headers })],
  ['Link must match pattern', withHeaders(listed, { link: '<a>; rel="last"' })],
  ['additional properties', withResponse(listed, { text: listed.response.text.replace('}', ',"age":1}') })],
  ['does not allow the request: limit must be <= 100', { ...listed, target: '/pets?limit=101' }],
  ['does not allow the request: body/name', { ...created, body: '{"name":" ","categoryId":1}' }],
  ['does not allow the request: Idempotency-Key', { ...created, headers: { 'Idempotency-Key': 'a b' } }],
  // The body contains a valid surrogate pair.
  ['allows the request', { ...rejected, body: String.raw`{"name":"\ud83d\udc15","categoryId":1}` }],
  // The message lists a parameter that is valid.
  [
    'allows the request',
    withResponse(lostCursor, { text: lostCursor.response.text.replace('cursor', 'limit; cursor') }),
  ],
  // The message is about a cursor that was not sent.
  ['allows the request', { ...lostCursor, target: '/pets' }],
])('the contract check reports "%s"', (problem, exchange) => {
  expect(contradictions(exchange)).toEqual([expect.stringContaining(problem)]);
});
