import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { encodeCursor } from '../../../shared/contract/cursor.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { PetIdParameter } from '../../../shared/contract/schemas.ts';
import { rootAddress, parseRequest } from '../../../shared/runtime/request.ts';
import {
  apiGatewayEvent,
  getPetEvent,
  listPetsEvent,
  postPetEvent,
  STAGE_DOMAIN,
} from '../../support/api-gateway-event.ts';
import { refused } from '../../support/refusals.ts';

function queryOf(query: Record<string, string[]>): unknown {
  return parseRequest(operations.listPets, listPetsEvent(query)).query;
}

function headersOf(headers: Record<string, string[]>): unknown {
  const event = postPetEvent({ name: 'Rex', categoryId: 7 }, { multiValueHeaders: headers });
  return parseRequest(operations.createPet, event).headers;
}

describe('the query', () => {
  test('may be absent, and what it does not know is dropped', () => {
    expect(parseRequest(operations.listPets, apiGatewayEvent()).query).toEqual({ limit: 20 });
    expect(queryOf({ limit: ['5'], offset: ['3', '4'] })).toEqual({ limit: 5 });
  });

  test('gives limit, status and cursor their types', () => {
    const query = { limit: ['100'], status: ['sold'], cursor: [encodeCursor(42n)] };
    expect(queryOf(query)).toEqual({ limit: 100, status: 'sold', cursor: 42n });
  });

  test.each([
    ...['0', '101', '-5', '5.0', '+5', '', ' 5', '05', '1e1', 'ten', '5\n', '\u0665'].map((text) => [
      'limit',
      [text],
    ]),
    ['limit', ['5', '5']],
    ...['', 'Sold', 'sold,pending', 'adopted', 'constructor'].map((text) => ['status', [text]]),
    ['status', ['sold', 'sold']],
    ...['', '42', 'MA', '%', encodeCursor(-1n)].map((text) => ['cursor', [text]]),
    ['cursor', [encodeCursor(42n), encodeCursor(42n)]],
  ] as [string, string[]][])('%s given as %j is refused by name', (name, values) => {
    expect(() => queryOf({ [name]: values })).toThrow(refused('invalid_request', `^${name} must be`));
  });

  test('is told of all that is wrong at once', () => {
    expect(() => queryOf({ limit: ['0'], status: ['gone'], cursor: ['?'] })).toThrow(
      refused('invalid_request', 'limit must', 'status must', 'cursor must'),
    );
  });
});

test.each([
  ['1', ['invalid_request', '^owner.name is required']],
  ['x', ['not_found']],
] as const)('a wrong path counts before a wrong member of the body: %s', (petId, [code, ...words]) => {
  const owner = v.object({ name: v.string() });
  const path = v.object({ petId: PetIdParameter });
  const operation = { ...operations.getPet, request: v.object({ path, body: v.object({ owner }) }) };
  const event = { ...getPetEvent(petId), body: '{"owner":{}}' };
  expect(() => parseRequest(operation, event)).toThrow(refused(code, ...words));
});

describe('the path', () => {
  test.each([
    ['0', 0n],
    ['-1', -1n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['%34%32', 42n],
    ['%2D42', -42n],
  ])('%s is the id %s', (petId, id) => {
    expect(parseRequest(operations.getPet, getPetEvent(petId)).path).toEqual({ petId: id });
  });

  test.each([
    'abc',
    '5.0',
    '5e0',
    '+5',
    '-0',
    '05',
    '0x5',
    '',
    ' 5',
    '5%20',
    '5%0A',
    '1_000',
    '\u0665',
    '9223372036854775808',
    '-9223372036854775809',
    '9'.repeat(5000),
    '%',
    '%3',
    '%zz',
    '4%',
    '%E0%A4%A',
    '%2534',
    '%00',
  ])('%s is nowhere', (petId) => {
    expect(() => parseRequest(operations.getPet, getPetEvent(petId))).toThrow(refused('not_found'));
  });

  test('without its parameter is nowhere', () => {
    expect(() => parseRequest(operations.getPet, apiGatewayEvent())).toThrow(refused('not_found'));
  });
});

describe('the headers', () => {
  test.each(['Idempotency-Key', 'idempotency-key', 'IDEMPOTENCY-KEY'])(
    'are found by their names in whatever case: %s',
    (name) => {
      expect(headersOf({ [name]: ['a'] })).toEqual({ 'Idempotency-Key': 'a' });
    },
  );

  test.each([
    ['none', {}],
    ['others', { 'Idempotency-Key2': ['a'], 'X-Idempotency-Key': ['b'], Idempotency: ['c'] }],
    ['without a value', { 'Idempotency-Key': [] }],
  ])('may be %s', (_what, headers) => {
    expect(headersOf(headers)).toEqual({});
  });

  test('may be absent', () => {
    const event = postPetEvent({ name: 'Rex', categoryId: 7 });
    expect([event.multiValueHeaders, parseRequest(operations.createPet, event).headers]).toEqual([null, {}]);
  });

  test.each<[string, Record<string, string[]>]>([
    ['by one name', { 'Idempotency-Key': ['a', 'a'] }],
    ['in different case', { 'Idempotency-Key': ['a'], 'idempotency-key': ['a'] }],
    ['in one line', { 'Idempotency-Key': ['a, a'] }],
  ])('are refused by name when one is given twice: %s', (_how, headers) => {
    expect(() => headersOf(headers)).toThrow(
      refused('invalid_request', '^Idempotency-Key must be', 'given once'),
    );
  });

  test('are no part of what is asked of an operation that reads none', () => {
    const event = listPetsEvent({}, { headers: { 'Idempotency-Key': '' } });
    expect(Object.keys(parseRequest(operations.listPets, event))).toEqual(['query']);
  });
});

describe('the base address', () => {
  const own = { domainName: 'pets.example.com', path: '/v1/pets' };
  test.each([
    ['has the stage', {}, `https://${STAGE_DOMAIN}/staging`],
    ['has no stage on a domain of its own', { requestContext: own }, 'https://pets.example.com'],
    [
      'is https behind https',
      { headers: { 'X-Forwarded-Proto': 'https' } },
      `https://${STAGE_DOMAIN}/staging`,
    ],
    ['is http behind http', { headers: { 'x-forwarded-proto': 'http' } }, `http://${STAGE_DOMAIN}/staging`],
  ])('%s', (_what, request, expected) => {
    expect(rootAddress(apiGatewayEvent(request))).toBe(expected);
  });

  test('is the same below a pet and with a slash at the end', () => {
    expect(rootAddress(getPetEvent('4%32'))).toBe(`https://${STAGE_DOMAIN}/staging`);
    expect(rootAddress(apiGatewayEvent({ path: '/v1/pets/' }))).toBe(`https://${STAGE_DOMAIN}/staging`);
  });
});
