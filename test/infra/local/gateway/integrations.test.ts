import { describe, expect, test } from '@jest/globals';
import type { HttpRequest, HttpResponse } from '../../../../infra/local/gateway/http-message.ts';
import { mockResponse, readProxyResult } from '../../../../infra/local/gateway/integrations.ts';

const integration = {
  Type: 'MOCK' as const,
  PassthroughBehavior: 'NEVER' as const,
  RequestTemplates: { 'application/json': '{}', 'text/plain': '{}' },
  IntegrationResponses: [
    {
      StatusCode: '405',
      ResponseParameters: { 'method.response.header.Allow': "'GET'" },
      ResponseTemplates: { 'application/json': '{"status":405}' },
    },
  ] as [any],
};

function respond(...headers: HttpRequest['headers']): HttpResponse | undefined {
  return mockResponse(integration, { headers } as HttpRequest);
}

describe('a mock integration', () => {
  test.each<[string, HttpRequest['headers']]>([
    ['without a media type', []],
    ['with an empty one', [['Content-Type', '']]],
    [
      'of another listed type, in capitals and with parameters',
      [['content-type', 'TEXT/Plain; charset=utf-8']],
    ],
  ])('responds to a request %s', (_name, headers) => {
    expect(respond(...headers)).toEqual({
      status: 405,
      headers: { 'Content-Type': 'application/json', Allow: 'GET' },
      body: '{"status":405}',
    });
  });

  test.each(['image/png', 'text/plainer', 'toString', '__proto__'])('has no response to %s', (mediaType) => {
    expect(respond(['Content-Type', mediaType])).toBeUndefined();
  });
});

describe('the result of a function', () => {
  const json = { 'Content-Type': 'application/json' };
  test.each([
    [
      'becomes the response, by default with the type JSON',
      { statusCode: 201, headers: { Location: '/1', Age: 5, X: true }, body: '{}' },
      { status: 201, headers: { ...json, Location: '/1', Age: '5', X: 'true' }, body: '{}' },
    ],
    [
      'may have another type',
      { statusCode: 200, headers: { 'Content-Type': 'text/plain' } },
      { status: 200, headers: { 'Content-Type': 'text/plain' }, body: '' },
    ],
    ['has no type without content', { statusCode: 204 }, { status: 204, headers: {}, body: '' }],
    [
      'has WWW-Authenticate renamed, as API Gateway does',
      { statusCode: 200, headers: { 'www-authenticate': 'Bearer' } },
      { status: 200, headers: { ...json, 'x-amzn-Remapped-www-authenticate': 'Bearer' }, body: '' },
    ],
  ])('%s', (_name, result, response) => {
    expect(readProxyResult(JSON.stringify(result))).toEqual(response);
  });

  test.each([
    ['null', null],
    ['an empty object', {}],
    ['an unknown member', { statusCode: 200, cookies: [] }],
    ['a status with a fraction', { statusCode: 200.5 }],
    ['an object as body', { statusCode: 200, body: {} }],
    ['an object as header', { statusCode: 200, headers: { A: {} } }],
    ['a body in base64, which is not modelled', { statusCode: 200, isBase64Encoded: true }],
  ])('is malformed with %s', (_name, result) => {
    expect(readProxyResult(JSON.stringify(result))).toBeUndefined();
  });
});
