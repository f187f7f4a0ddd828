import { describe, expect, test } from '@jest/globals';
import type { HttpRequest, Pair } from '../../../../../infra/local/emulator/gateway/http-message.ts';
import { proxyEvent } from '../../../../../infra/local/emulator/gateway/proxy-event.ts';

function eventOf(request: Partial<HttpRequest>, body = '', authorizer?: object, pathParameters: Pair[] = []) {
  const method = { HttpMethod: 'GET', ResourceId: 'Thing' } as never;
  const route = { method, resourcePath: '/v1/things/{thingId}', pathParameters };
  return proxyEvent(
    { method: 'GET', path: '/v1/things', query: '', headers: [], body: [], sourceIp: '::1', ...request },
    Buffer.from(body),
    route,
    { apiId: 'Api', stage: 'sample', requestId: 'request-1', authorizer },
  );
}

describe('the event for a function', () => {
  test('contains null for each absent value', () => {
    const event = eventOf({});
    expect(event).toMatchObject({
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      body: null,
    });
    expect(event.requestContext.authorizer).toBeUndefined();
  });

  test('contains the unchanged path, headers and body of the request', () => {
    const path = '/v1/things/a%2Fb/';
    const headers: Pair[] = [
      ['host', 'localhost:3000'],
      ['USER-AGENT', 'wget'],
      ['USER-AGENT', 'curl'],
    ];
    const body = '{"name":"Łucja 🐈"}';
    const event = eventOf({ path, headers }, body, { principalId: 'key_1' }, [['thingId', 'a%2Fb']]);
    expect(event).toMatchObject({
      path,
      headers: { host: 'localhost:3000', 'USER-AGENT': 'curl' },
      multiValueHeaders: { host: ['localhost:3000'], 'USER-AGENT': ['wget', 'curl'] },
      pathParameters: { thingId: 'a%2Fb' },
      requestContext: {
        authorizer: { principalId: 'key_1' },
        domainName: 'localhost:3000',
        path,
        requestId: 'request-1',
        identity: { sourceIp: '::1', userAgent: 'curl' },
      },
      body: '{"name":"Łucja 🐈"}',
    });
  });

  test.each([
    ['na%20me=a%26b&plus=a+b', { 'na me': ['a&b'], plus: ['a b'] }],
    ['a=%&%E0%A4%A=1&b', { a: ['%'], '\uFFFD%A': ['1'], b: [''] }],
    ['limit=1&limit=2', { limit: ['1', '2'] }],
    ['__proto__=1&constructor=2', { ['__proto__']: ['1'], constructor: ['2'] }],
  ])('contains all decoded parameters of the query %s', (query, all) => {
    const { queryStringParameters, multiValueQueryStringParameters } = eventOf({ query });
    expect(Object.entries(multiValueQueryStringParameters!)).toEqual(Object.entries(all));
    const last = Object.entries(all).map(([name, values]) => [name, values.at(-1)]);
    expect(Object.entries(queryStringParameters!)).toEqual(last);
  });

  test("removes connection headers and overwrites the client's X-Forwarded headers", () => {
    const names = ['Connection', 'content-length', 'TE', 'x-forwarded-for', 'X-FORWARDED-PROTO'];
    const { headers, multiValueHeaders } = eventOf({ headers: names.map((name) => [name, 'a']) });
    expect(headers).toEqual({ 'X-Forwarded-For': '::1', 'X-Forwarded-Proto': 'http' });
    expect(multiValueHeaders).toEqual({ 'X-Forwarded-For': ['::1'], 'X-Forwarded-Proto': ['http'] });
  });
});
