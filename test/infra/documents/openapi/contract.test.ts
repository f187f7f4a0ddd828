import { expect, test } from '@jest/globals';
import { PAGE } from '../../../../shared/contract/limits.ts';
import type { OperationId } from '../../../../shared/contract/operations.ts';
import { contract, type Exchange } from '../../../support/contract.ts';
import { validBody } from '../../../support/sample.ts';

// The HTTP tests use the contract check to compare requests and responses with openapi.json. The tests below
// prove that the contract check reports contradictions.

const { responses, contradictions, examples } = contract();
const path = '/pets';

/** Returns an operation's example request with the example of the response `name`, such as `getPet 404`. */
function documented(name: string): Exchange {
  const [operation, status] = name.split(' ') as [OperationId, string];
  const request = examples[operation];
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
const unknown = documented('getPet 404');
const unknownPath = JSON.stringify(responses.get('other 404')!.example);

function withResponse(exchange: Exchange, response: Partial<Exchange['response']>): Exchange {
  return { ...exchange, response: { ...exchange.response, ...response } };
}

function withHeaders(exchange: Exchange, changed: Record<string, string>): Exchange {
  const before = Object.fromEntries(new Headers(exchange.response.headers));
  return withResponse(exchange, { headers: { ...before, ...changed } });
}

test.each<[problem: string, Exchange]>([
  ['is not documented', withResponse(listed, { status: 418 })],
  ['but the document contains the path', withResponse(unknown, { text: unknownPath })],
  ['does not allow the id', { ...unknown, target: `${path}/abc` }],
  ['has a wrong media type: text/html', withHeaders(listed, { 'content-type': 'text/html' })],
  ['has an undocumented header: x-powered-by', withHeaders(listed, { 'X-Powered-By': 'us' })],
  ['has no Location header', withResponse(created, { headers: rejected.response.headers })],
  ['Link must match pattern', withHeaders(listed, { link: '<a>; rel="last"' })],
  ['additional properties', withResponse(listed, { text: listed.response.text.replace('}', ',"age":1}') })],
  [
    'does not allow the request: limit must be <=',
    { ...listed, target: `${path}?limit=${PAGE.maximum + 1}` },
  ],
  ['does not allow the request: body/', { ...created, body: JSON.stringify({ ...validBody, name: ' ' }) }],
  ['does not allow the request: Idempotency-Key', { ...created, headers: { 'Idempotency-Key': 'a b' } }],
  // A service must not reject this body, because the escape sequences form a valid surrogate pair.
  [
    'allows the request',
    {
      ...rejected,
      body: JSON.stringify({ ...validBody, name: 'DOG' }).replace('DOG', String.raw`\ud83d\udc15`),
    },
  ],
  ['allows the request', { ...listed, response: rejected.response }],
  ['allows the request', { ...rejected, body: bodyWithUnknown(nested(999)) }],
  ['allows the request', { ...rejected, body: bodyWithUnknown(JSON.stringify('"['.repeat(1_001))) }],
])('the contract check reports "%s"', (problem, exchange) => {
  expect(contradictions(exchange)).toEqual([expect.stringContaining(problem)]);
});

test.each<[string, Exchange]>([
  ['that may be rejected', { ...listed, response: rejected.response, mayBeRejected: true }],
  [
    'whose body is not UTF-8',
    { ...rejected, body: Buffer.from(JSON.stringify({ ...validBody, name: '\u00ea' }), 'latin1') },
  ],
  ['whose body is nested more than 1,000 levels deep', { ...rejected, body: bodyWithUnknown(nested(1_000)) }],
])('the contract check allows a 400 for a request %s', (_case, exchange) => {
  expect(contradictions(exchange)).toEqual([]);
});

/** Returns a valid body in which an unknown field has the value `json`. */
function bodyWithUnknown(json: string): string {
  return created.body!.toString().replace('{', `{"x":${json},`);
}

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}
