import { describe, expect, test } from '@jest/globals';
import { contract, type Exchange } from '../../../support/contract.ts';
import { readOpenApi } from '../../../support/openapi-document.ts';

// What holds the HTTP tests against openapi.json must itself be able to fail.

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

function withoutHeader(exchange: Exchange, name: string): Exchange {
  const headers = { ...(exchange.answer.headers as Record<string, string>) };
  delete headers[name];
  return answering(exchange, { headers });
}

function withHeaders(exchange: Exchange, headers: Record<string, string>): Exchange {
  return answering(exchange, {
    headers: { ...(exchange.answer.headers as Record<string, string>), ...headers },
  });
}

describe('The contract', () => {
  const { contradictions } = contract();

  test.each([
    ['a list', listed],
    ['a list with a link', withHeaders(listed, { Link: '<https://a/v1/pets?cursor=b>; rel="next"' })],
    ['a created pet', created],
    ['a body that is no pet', refused],
    ['a limit out of bounds', { ...answering(listed, refused.answer), target: '/pets?limit=101' }],
    ['a parameter given twice', { ...answering(listed, refused.answer), target: '/pets?limit=5&limit=6' }],
    ['an integer beyond int64', { ...refused, body: '{"name":"Rex","categoryId":9223372036854775808}' }],
    ['a fraction near an integer', { ...refused, body: '{"name":"Rex","categoryId":9007199254740993.5}' }],
    ['a number for a key', { ...created, headers: { 'Idempotency-Key': '42' } }],
    ['a name with a lone surrogate', { ...refused, body: String.raw`{"name":"\ud800","categoryId":1}` }],
    ['an address that is none of ours', orders],
    ['a pet that is not there', unknown],
  ])('is kept by %s', (_what, exchange) => {
    expect(contradictions(exchange)).toEqual([]);
  });

  test.each([
    ['a status that is not documented', answering(listed, { status: 418 }), 'is not documented'],
    ['a status of no operation', answering(orders, { status: 401 }), 'is not documented'],
    [
      'an address that is none, of a pet that may be',
      answering(unknown, { text: orders.answer.text }),
      'but the document has it',
    ],
    [
      'a pet that is not there, under what is no id',
      { ...unknown, target: '/pets/abc' },
      'but the document forbids it',
    ],
    ['another media type', withHeaders(listed, { 'Content-Type': 'text/html' }), 'text/html'],
    ['a header that is not documented', withHeaders(listed, { 'X-Powered-By': 'us' }), 'x-powered-by'],
    ['a header of another answer', withHeaders(listed, { Location: 'https://a/b' }), 'location'],
    ['a header that is missing', withoutHeader(created, 'Location'), 'lacks the header Location'],
    ['a header of another form', withHeaders(listed, { Link: '<a>; rel="last"' }), 'Link must match pattern'],
    [
      'a member that is not documented',
      answering(listed, { text: `[${pet.replace('}', ',"age":1}')}]` }),
      'properties',
    ],
    ['a member that is missing', answering(listed, { text: '[{"id":1,"name":"Rex"}]' }), 'categoryId'],
    [
      'a null status',
      answering(listed, { text: `[${pet.replace('}', ',"status":null}')}]` }),
      'status must be',
    ],
    ['an object for a list', answering(listed, { text: pet }), 'body must be array'],
    [
      'a success of what is forbidden',
      { ...listed, target: '/pets?limit=101' },
      'forbids the request: limit must be <= 100',
    ],
    [
      'a success of a list with a status that there is not',
      { ...listed, target: '/pets?status=lost' },
      'forbids the request: status',
    ],
    [
      'a success of a body that is forbidden',
      { ...created, body: '{"name":" ","categoryId":1}' },
      'forbids the request: body/name',
    ],
    [
      'a success under a key that is forbidden',
      { ...created, headers: { 'Idempotency-Key': 'a b' } },
      'forbids the request: Idempotency-Key',
    ],
    [
      'a refusal of a pair of surrogates',
      { ...refused, body: String.raw`{"name":"\ud83d\udc15","categoryId":1}` },
      'but the document allows it',
    ],
    ['a refusal of what is allowed', { ...refused, body: created.body }, 'but the document allows it'],
  ])('is broken by %s', (_what, exchange, problem) => {
    expect(contradictions(exchange)).toEqual([expect.stringContaining(problem)]);
  });

  test.each([
    ['no Location', (document: any) => delete document.paths['/pets'].post.responses[201].headers.Location],
    [
      'no members but a name',
      (document: any) => delete document.components.schemas.Pet.properties.categoryId,
    ],
    ['another success', (document: any) => delete document.paths['/pets'].post.responses[201]],
    ['shorter names', (document: any) => (document.components.schemas.NewPet.properties.name.maxLength = 2)],
    ['a required status', (document: any) => document.components.schemas.NewPet.required.push('status')],
  ])('of a document with %s is broken by a created pet', (_what, change) => {
    const document = readOpenApi();
    change(document);
    expect(contract(document).contradictions(created)).not.toEqual([]);
  });
});
