import { describe, expect, test } from '@jest/globals';
import { stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { collections, type OperationId } from '../../shared/contract/operations.ts';
import { collectionTests } from '../collections/all.ts';
import { contract, type Exchange } from '../support/contract.ts';

// The HTTP tests use the contract check to compare requests and responses with openapi.json. The tests below
// prove that the contract check reports contradictions.

const { responses, contradictions, examples } = contract();
const unknownPath = JSON.stringify({ code: 'not_found', message: 'This URL does not exist.', status: 404 });

/** Returns an operation's example request with the example of its response with `status`. */
function documented(id: OperationId, status: number): Exchange {
  const request = examples[id];
  const { headers, example } = responses.get(`${id} ${status}`)!;
  const values = Object.entries(headers).map(([header, { example: value }]) => [header, `${value}`]);
  return {
    ...request,
    target: request.target.replace('/v1', ''),
    response: {
      status,
      headers: { 'Content-Type': 'application/json', Date: 'today', ...Object.fromEntries(values) },
      text: JSON.stringify(example),
    },
  };
}

function withResponse(exchange: Exchange, response: Partial<Exchange['response']>): Exchange {
  return { ...exchange, response: { ...exchange.response, ...response } };
}

function withHeaders(exchange: Exchange, changed: Record<string, string>): Exchange {
  const before = Object.fromEntries(new Headers(exchange.response.headers));
  return withResponse(exchange, { headers: { ...before, ...changed } });
}

describe.each(collections)('for $plural, the contract check', ({ plural, operations }) => {
  const { path, newItem, invalid } = collectionTests[plural];
  const listed = documented(operations.list.id, 200);
  const created = documented(operations.create.id, 201);
  const rejected: Exchange = { ...created, response: documented(operations.create.id, 400).response };
  const unknown = documented(operations.get.id, 404);
  const bodyWith = (text: string) => stringifyJson(newItem(text));
  /** Returns a valid body in which an unknown field has the value `json`. */
  const bodyWithUnknown = (json: string) => bodyWith('a text').replace('{', `{"x":${json},`);

  test.each<[problem: string, Exchange]>([
    ['is not documented', withResponse(listed, { status: 418 })],
    ['but the document contains the path', withResponse(unknown, { text: unknownPath })],
    ['does not allow the id', { ...unknown, target: `${path}/abc` }],
    ['has a wrong media type: text/html', withHeaders(listed, { 'content-type': 'text/html' })],
    ['has an undocumented header: x-powered-by', withHeaders(listed, { 'X-Powered-By': 'us' })],
    ['has no Location header', withResponse(created, { headers: rejected.response.headers })],
    ['additional properties', withResponse(listed, { text: listed.response.text.replace('}', ',"x":1}') })],
    [
      'does not allow the request: limit must be <=',
      { ...listed, target: `${path}?limit=${PAGE.maximum + 1}` },
    ],
    ['does not allow the request: body', { ...created, body: stringifyJson(invalid.item) }],
    ['does not allow the request: Idempotency-Key', { ...created, headers: { 'Idempotency-Key': 'a b' } }],
    // A service must not reject this body, because the escape sequences form a valid surrogate pair.
    ['allows the request', { ...rejected, body: bodyWith('DOG').replace('DOG', String.raw`\ud83d\udc15`) }],
    ['allows the request', { ...listed, response: rejected.response }],
    ['allows the request', { ...rejected, body: bodyWithUnknown(nested(999)) }],
    ['allows the request', { ...rejected, body: bodyWithUnknown(JSON.stringify('"['.repeat(1_001))) }],
  ])('reports "%s"', (problem, exchange) => {
    expect(contradictions(exchange)).toEqual([expect.stringContaining(problem)]);
  });

  test.each<[string, Exchange]>([
    ['that may be rejected', { ...listed, response: rejected.response, mayBeRejected: true }],
    ['whose body is not UTF-8', { ...rejected, body: Buffer.from(bodyWith('\u00ea'), 'latin1') }],
    [
      'whose body is nested more than 1,000 levels deep',
      { ...rejected, body: bodyWithUnknown(nested(1_000)) },
    ],
  ])('allows a 400 for a request %s', (_case, exchange) => {
    expect(contradictions(exchange)).toEqual([]);
  });
});

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}
