import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { encodeCursor } from '../../../shared/contract/cursor.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { PetIdParameter } from '../../../shared/contract/schemas.ts';
import { rootUrl, parseRequest } from '../../../shared/runtime/request.ts';
import {
  apiGatewayEvent,
  getPetEvent,
  listPetsEvent,
  postPetEvent,
  STAGE_DOMAIN,
} from '../../support/api-gateway-event.ts';
import { errorResponse } from '../../support/operations.ts';

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
    const query = { limit: ['100'], status: ['sold'], cursor: [encodeCursor(42n, 'sold')] };
    expect(queryOf(query)).toEqual({ limit: 100, status: 'sold', cursor: 42n });
  });

  test.each([
    ['limit', ['0']],
    ['limit', ['5', '5']],
    ['status', ['sold', 'sold']],
    ['cursor', [encodeCursor(42n), encodeCursor(42n)]],
  ])('%s given as %j is refused by name', (name, values) => {
    expect(() => queryOf({ [name]: values })).toThrow(
      errorResponse('invalid_request', `^${name} must be .*given once\\.$`),
    );
  });

  test('is told of all that is wrong at once', () => {
    expect(() => queryOf({ limit: ['0'], status: ['gone'], cursor: ['?'] })).toThrow(
      errorResponse('invalid_request', 'limit must', 'status must', 'cursor is not'),
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
  expect(() => parseRequest(operation, event)).toThrow(errorResponse(code, ...words));
});

describe('the path', () => {
  test('is decoded', () => {
    const { path } = parseRequest(operations.getPet, getPetEvent('%2D%34%32'));
    expect(path).toEqual({ petId: -42n });
  });

  test.each(['abc', '', '%', '4%', '%E0%A4%A', '%2534'])('%s is nowhere', (petId) => {
    expect(() => parseRequest(operations.getPet, getPetEvent(petId))).toThrow(errorResponse('not_found'));
  });

  test('without its parameter is nowhere', () => {
    expect(() => parseRequest(operations.getPet, apiGatewayEvent())).toThrow(errorResponse('not_found'));
  });
});

describe('the headers', () => {
  test.each([
    ['found by their names in whatever case', { 'iDEMPOTENCY-kEY': ['a'] }, { 'Idempotency-Key': 'a' }],
    ['others', { 'Idempotency-Key2': ['a'], 'X-Idempotency-Key': ['b'] }, {}],
    ['without a value', { 'Idempotency-Key': [] }, {}],
  ])('may be %s', (_what, headers, expected) => {
    expect(headersOf(headers)).toEqual(expected);
  });

  test('are refused by name when one is given twice, in different case', () => {
    const headers = { 'Idempotency-Key': ['a'], 'idempotency-key': ['a'] };
    expect(() => headersOf(headers)).toThrow(
      errorResponse('invalid_request', '^Idempotency-Key must be', 'given once'),
    );
  });

  test('are no part of what is asked of an operation that reads none', () => {
    const event = listPetsEvent({}, { headers: { 'Idempotency-Key': '' } });
    expect(Object.keys(parseRequest(operations.listPets, event))).toEqual(['query']);
  });
});

describe('the base URL', () => {
  const own = { domainName: 'pets.example.com', path: '/v1/pets' };
  test.each([
    ['has the stage', {}, `https://${STAGE_DOMAIN}/staging`],
    ['has no stage on a domain of its own', { requestContext: own }, 'https://pets.example.com'],
    ['is http behind http', { headers: { 'x-forwarded-proto': 'http' } }, `http://${STAGE_DOMAIN}/staging`],
  ])('%s', (_what, request, expected) => {
    expect(rootUrl(apiGatewayEvent(request))).toBe(expected);
  });
});
