import { describe, expect, test } from '@jest/globals';
import type { HttpRequest, Pair } from '../../../../infra/local/emulator/gateway/http-message.ts';
import { proxyEvent } from '../../../../infra/local/emulator/gateway/proxy-event.ts';

function eventOf(
  changes: Partial<HttpRequest>,
  body = '',
  authorizer?: Record<string, string>,
  pathParameters: Pair[] = [],
) {
  const defaults = {
    method: 'GET',
    path: '/v1/books',
    query: '',
    headers: [],
    host: 'localhost:3000',
    body: [],
    sourceIp: '::1',
  };
  const route = {
    method: { ResourceId: 'Book' } as never,
    resourcePath: '/v1/books/{bookId}',
    pathParameters,
  };
  const context = { apiId: 'Api', stage: 'staging', requestId: 'request-1', authorizer };
  return proxyEvent({ ...defaults, ...changes }, Buffer.from(body), route, context);
}

describe('the event for a function', () => {
  test('contains null for a missing query, missing path parameters and a missing body', () => {
    expect(eventOf({})).toMatchObject({
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      requestContext: { authorizer: undefined },
      body: null,
    });
  });

  test('contains the unchanged path, headers and body of the request', () => {
    const path = '/v1/books/a%2Fb/';
    const headers: Pair[] = [
      ['host', 'localhost:3000'],
      ['USER-AGENT', 'wget'],
      ['USER-AGENT', 'curl'],
    ];
    const body = '{"title":"Łódź 📖"}';
    const authorizer = { principalId: 'key_1' };
    expect(
      eventOf({ path, headers, host: 'localhost:3001' }, body, authorizer, [['bookId', 'a%2Fb']]),
    ).toMatchObject({
      path,
      headers: { host: 'localhost:3000', 'USER-AGENT': 'curl' },
      multiValueHeaders: { host: ['localhost:3000'], 'USER-AGENT': ['wget', 'curl'] },
      pathParameters: { bookId: 'a%2Fb' },
      requestContext: {
        authorizer,
        domainName: 'localhost:3001',
        path,
        requestId: 'request-1',
        identity: { sourceIp: '::1', userAgent: 'curl' },
      },
      body,
    });
  });

  test('contains all values of decoded query parameters, and the last value of each', () => {
    const queries: Record<string, Record<string, string[]>> = {
      'na%20me=a%26b&plus=a+b': { 'na me': ['a&b'], plus: ['a b'] },
      'a=%&%E0%A4%A=1&b': { a: ['%'], '\uFFFD%A': ['1'], b: [''] },
      'limit=1&limit=2': { limit: ['1', '2'] },
      '__proto__=1': { ['__proto__']: ['1'] },
    };
    for (const [query, all] of Object.entries(queries)) {
      const { queryStringParameters, multiValueQueryStringParameters } = eventOf({ query });
      expect(Object.entries(multiValueQueryStringParameters!)).toEqual(Object.entries(all));
      const last = Object.entries(all).map(([name, values]) => [name, values.at(-1)]);
      expect(Object.entries(queryStringParameters!)).toEqual(last);
    }
  });

  test("omits connection headers and replaces the client's X-Forwarded headers", () => {
    const names = ['Connection', 'content-length', 'TE', 'x-forwarded-for', 'X-FORWARDED-PROTO'];
    const { headers, multiValueHeaders } = eventOf({ headers: names.map((name) => [name, 'a']) });
    expect(headers).toEqual({ 'X-Forwarded-For': '::1', 'X-Forwarded-Proto': 'http' });
    expect(multiValueHeaders).toEqual({ 'X-Forwarded-For': ['::1'], 'X-Forwarded-Proto': ['http'] });
  });
});
