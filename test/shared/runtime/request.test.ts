import { describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { rootUrl, parseRequest } from '../../../shared/runtime/request.ts';
import { apiGatewayEvent, listEvent, createEvent, STAGE_DOMAIN } from '../../support/api-gateway-event.ts';
import { errorResponse } from './api-errors.ts';
import { books } from '../../support/books.ts';

const { create, get, list } = books.operations;

function headersOf(headers: Record<string, string[]>): unknown {
  const event = createEvent({ title: 'Emma', shelf: 7 }, { multiValueHeaders: headers });
  return parseRequest(create, event).headers;
}

test.each([
  ['1', ['invalid_request', '^author.surname is required\\.$']],
  ['x', ['not_found']],
] as const)('an invalid body is reported only if the path is valid (id %s)', (id, [code, pattern]) => {
  const author = v.object({ surname: v.string('must be a name') });
  const operation = { ...get, request: { path: get.request.path, body: v.object({ author }) } };
  const event = apiGatewayEvent({ pathParameters: { bookId: id }, body: '{"author":{}}' });
  expect(() => parseRequest(operation, event)).toThrow(errorResponse(code, pattern));
});

describe('the headers', () => {
  test.each([
    ['are read regardless of case', { 'iDEMPOTENCY-kEY': ['a'] }, { 'Idempotency-Key': 'a' }],
    ['are ignored if unknown', { 'Idempotency-Key2': ['a'], 'X-Idempotency-Key': ['b'] }, {}],
    ['are ignored if they have no values', { 'Idempotency-Key': [] }, {}],
  ])('%s', (_name, headers, expected) => {
    expect(headersOf(headers)).toEqual(expected);
  });

  test('are rejected if a name is repeated in a different case', () => {
    const headers = { 'Idempotency-Key': ['a'], 'idempotency-key': ['a'] };
    expect(() => headersOf(headers)).toThrow(
      errorResponse('invalid_request', '^Idempotency-Key must be a single value'),
    );
  });

  test('are not read if the operation has no schema for headers', () => {
    const event = listEvent({}, { headers: { 'Idempotency-Key': '' } });
    expect(Object.keys(parseRequest(list, event))).toEqual(['query', 'rawBody']);
  });
});

describe('an unknown query parameter', () => {
  test.each([
    ['in another spelling', { 'genre[]': ['crime'] }, '"genre\\[\\]" .*\\blimit, genre, shelf, cursor\\b'],
    ['in another case', { Limit: ['5'] }, '"Limit" .*\\blimit, genre, shelf, cursor\\b'],
    ['without a name', { '': ['5'] }, '"" .*\\blimit, genre, shelf, cursor\\b'],
    ['that objects inherit', { constructor: ['5'] }, '"constructor" .*\\blimit, genre, shelf, cursor\\b'],
    [
      'beside an invalid one',
      { genres: ['crime'], limits: ['5'], limit: ['0'] },
      '"genres", "limits" .*; limit must be',
    ],
  ])('%s is rejected with the known ones', (_what, query, pattern) => {
    expect(() => parseRequest(list, listEvent(query))).toThrow(errorResponse('invalid_request', pattern));
  });

  test.each([create, get])('is rejected by $id, which has none', (operation) => {
    const event = createEvent(
      { title: 'Emma', shelf: 7 },
      {
        pathParameters: { bookId: '42' },
        multiValueQueryStringParameters: { genre: ['crime'] },
      },
    );
    expect(() => parseRequest(operation, event)).toThrow(errorResponse('invalid_request', '"genre" .*none'));
  });
});

describe('the base URL', () => {
  const requestContext = { domainName: 'api.example.com', path: '/v1/books' };

  test('contains the host, and the stage or the base path of the called URL', () => {
    const book = '/v1/books/{bookId}';
    const stage = { domainName: STAGE_DOMAIN };
    for (const [path, called, expected, context] of [
      ['/v1/books', '/staging/v1/books', `https://${STAGE_DOMAIN}/staging`, stage],
      ['/v1/books', '/v1/books', 'https://api.example.com'],
      ['/v1/books', '/petstore/v1/books/', 'https://api.example.com/petstore'],
      ['/v1/books', '/shops/one/v1/books', 'https://api.example.com/shops/one'],
      ['/v1/books', '/v1/v1/books', 'https://api.example.com/v1'],
      [book, '/petstore/v1/books/42', 'https://api.example.com/petstore'],
      [book, '/petstore/v1/books/42/', 'https://api.example.com/petstore'],
      [book, '/v1/books/a%2Fb', 'https://api.example.com'],
    ] as const) {
      const event = apiGatewayEvent({ requestContext: { ...requestContext, path: called, ...context } });
      expect({ path, called, url: rootUrl({ path }, event) }).toEqual({ path, called, url: expected });
    }
  });

  test('starts with http if the request used http', () => {
    const event = apiGatewayEvent({ requestContext, headers: { 'x-forwarded-proto': 'http' } });
    expect(rootUrl({ path: '/v1/books' }, event)).toMatch(/^http:/);
  });

  test('is the public URL if the stage has one', () => {
    jest.replaceProperty(process, 'env', { PUBLIC_URL: 'https://api.example.com/shop' });
    expect(rootUrl(list, apiGatewayEvent({ requestContext }))).toBe('https://api.example.com/shop');
    jest.restoreAllMocks();
  });
});
