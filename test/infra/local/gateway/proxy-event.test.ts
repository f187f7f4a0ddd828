import { describe, expect, test } from '@jest/globals';
import type { HttpRequest } from '../../../../infra/local/gateway/http-message.ts';
import { proxyEvent } from '../../../../infra/local/gateway/proxy-event.ts';

function eventOf(
  request: Partial<HttpRequest> = {},
  authorizer?: Record<string, unknown>,
  pathParameters: Record<string, string> = {},
) {
  const method = { HttpMethod: 'GET', ResourceId: 'Pet' } as never;
  return proxyEvent(
    {
      method: 'GET',
      path: '/v1/pets',
      query: '',
      headers: [],
      body: Buffer.alloc(0),
      sourceIp: '::1',
      ...request,
    },
    {
      apiId: 'Api',
      stage: 'sample',
      route: { method, resourcePath: '/v1/pets/{petId}', pathParameters },
      requestId: 'request-1',
      authorizer,
    },
  );
}

describe('the event for a function', () => {
  test('has null for absent collections and an absent body', () => {
    expect(eventOf()).toMatchObject({
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
    });
    expect(eventOf().requestContext).not.toHaveProperty('authorizer');
  });

  test('has method, path, resource and request id', () => {
    expect(eventOf({ method: 'GET', path: '/v1/pets/5/' }, { principalId: 'key_1' })).toMatchObject({
      resource: '/v1/pets/{petId}',
      path: '/v1/pets/5/',
      httpMethod: 'GET',
      requestContext: {
        accountId: '000000000000',
        apiId: 'Api',
        stage: 'sample',
        authorizer: { principalId: 'key_1' },
        httpMethod: 'GET',
        path: '/v1/pets/5/',
        requestId: 'request-1',
        resourceId: 'Pet',
        resourcePath: '/v1/pets/{petId}',
        identity: { sourceIp: '::1', userAgent: null },
      },
    });
  });

  test('leaves path and path parameters encoded and decodes the query', () => {
    const event = eventOf({ path: '/v1/pets/a%2Fb', query: 'na%20me=a%26b&plus=a+b' }, undefined, {
      petId: 'a%2Fb',
    });
    expect(event).toMatchObject({
      path: '/v1/pets/a%2Fb',
      pathParameters: { petId: 'a%2Fb' },
      queryStringParameters: { 'na me': 'a&b', plus: 'a b' },
    });
  });

  test('keeps invalid percent-encoding in the query', () => {
    expect(eventOf({ query: 'a=%&%E0%A4%A=1&&=&b' }).queryStringParameters).toMatchObject({ a: '%', b: '' });
  });

  test('keeps the last of several values in the single maps and all of them in the others', () => {
    const event = eventOf({
      query: 'limit=1&limit=2',
      headers: [
        ['X-Test', 'one'],
        ['X-Test', 'two'],
      ],
    });
    expect(event.queryStringParameters).toEqual({ limit: '2' });
    expect(event.multiValueQueryStringParameters).toEqual({ limit: ['1', '2'] });
    expect(event.headers).toMatchObject({ 'X-Test': 'two' });
    expect(event.multiValueHeaders).toMatchObject({ 'X-Test': ['one', 'two'] });
  });

  test('treats names of object members like other names', () => {
    const event = eventOf({ query: '__proto__=1&constructor=2' });
    expect(Object.entries(event.queryStringParameters ?? {})).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
  });

  test('keeps the case of header names', () => {
    expect(eventOf({ headers: [['idempotency-KEY', 'a']] }).headers).toMatchObject({
      'idempotency-KEY': 'a',
    });
  });

  test('leaves out the headers of the connection, and sets those of a proxy', () => {
    const names = ['Connection', 'content-length', 'TE', 'x-forwarded-for', 'X-FORWARDED-PROTO'];
    const { headers, multiValueHeaders } = eventOf({ headers: names.map((name) => [name, 'a']) });
    expect(headers).toEqual({ 'X-Forwarded-For': '::1', 'X-Forwarded-Proto': 'http' });
    expect(multiValueHeaders).toEqual({ 'X-Forwarded-For': ['::1'], 'X-Forwarded-Proto': ['http'] });
  });

  test('finds Host and User-Agent regardless of case', () => {
    const headers: [string, string][] = [
      ['host', 'localhost:3000'],
      ['USER-AGENT', 'curl'],
    ];
    expect(eventOf({ headers }).requestContext).toMatchObject({
      domainName: 'localhost:3000',
      identity: { userAgent: 'curl' },
    });
  });

  test('carries the body as text', () => {
    expect(eventOf({ body: Buffer.from('{"name":"Łucja 🐈"}') }).body).toBe('{"name":"Łucja 🐈"}');
  });
});
