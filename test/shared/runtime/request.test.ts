import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { encodeCursor } from '../../../shared/contract/cursor.ts';
import { PAGE } from '../../../shared/contract/limits.ts';
import { rootUrl, parseRequest } from '../../../shared/runtime/request.ts';
import {
  apiGatewayEvent,
  getEvent,
  listEvent,
  createEvent,
  STAGE_DOMAIN,
} from '../../support/api-gateway-event.ts';
import { errorResponse } from '../../support/operations.ts';
import { collection, create, get, list, validBody } from '../../support/sample.ts';

function queryOf(query: Record<string, string[]>): unknown {
  return parseRequest(list, listEvent(query)).query;
}

function headersOf(headers: Record<string, string[]>): unknown {
  const event = createEvent(validBody, { multiValueHeaders: headers });
  return parseRequest(create, event).headers;
}

describe('the query', () => {
  test('is optional and can contain unknown parameters', () => {
    expect(parseRequest(list, apiGatewayEvent()).query).toEqual({
      limit: PAGE.default,
      filters: {},
    });
    expect(queryOf({ limit: ['5'], offset: ['3', '4'] })).toEqual({ limit: 5, filters: {} });
  });

  test.each([
    ['limit', ['0']],
    ['limit', ['5', '5']],
    ['status', ['sold', 'sold']],
    ['cursor', [encodeCursor(42n, {}), encodeCursor(42n, {})]],
  ])('is rejected with the name of the invalid parameter if %s is %j', (name, values) => {
    expect(() => queryOf({ [name]: values })).toThrow(
      errorResponse('invalid_request', `^${name} must be (a single|exactly one) `),
    );
  });

  test('is rejected with a message that lists all invalid parameters', () => {
    expect(() => queryOf({ limit: ['0'], status: ['gone'], cursor: ['?'] })).toThrow(
      errorResponse('invalid_request', 'limit must', 'status must', 'cursor must'),
    );
  });
});

test.each([
  ['1', ['invalid_request', '^owner.name is required']],
  ['x', ['not_found']],
] as const)('an invalid path has priority over an invalid body (id %s)', (id, [code, ...words]) => {
  const owner = v.object({ name: v.string() });
  const { path } = get.request.entries;
  const operation = { ...get, request: v.object({ path, body: v.object({ owner }) }) };
  const event = { ...getEvent(id), body: '{"owner":{}}' };
  expect(() => parseRequest(operation, event)).toThrow(errorResponse(code, ...words));
});

describe('the path', () => {
  test('is percent-decoded', () => {
    const { path } = parseRequest(get, getEvent('%2D%34%32'));
    expect(Object.values(path)).toEqual([-42n]);
  });

  test.each(['abc', '', '%', '4%', '%E0%A4%A', '%2534'])('causes a 404 if the id is %j', (id) => {
    expect(() => parseRequest(get, getEvent(id))).toThrow(errorResponse('not_found'));
  });
});

describe('the headers', () => {
  test.each([
    ['are read regardless of case', { 'iDEMPOTENCY-kEY': ['a'] }, { 'Idempotency-Key': 'a' }],
    ['are ignored if unknown', { 'Idempotency-Key2': ['a'], 'X-Idempotency-Key': ['b'] }, {}],
    ['are ignored if they have no value', { 'Idempotency-Key': [] }, {}],
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
    expect(Object.keys(parseRequest(list, event))).toEqual(['query']);
  });
});

describe('the base URL', () => {
  const requestContext = { domainName: 'api.example.com', path: collection };
  test.each([
    ['contains the stage on the default endpoint', {}, `https://${STAGE_DOMAIN}/staging`],
    ['does not contain the stage on a custom domain', { requestContext }, 'https://api.example.com'],
    [
      'starts with http if the request used http',
      { headers: { 'x-forwarded-proto': 'http' } },
      `http://${STAGE_DOMAIN}/staging`,
    ],
  ])('%s', (_name, request, expected) => {
    expect(rootUrl(apiGatewayEvent(request))).toBe(expected);
  });
});
