import { describe, expect, test } from '@jest/globals';
import type { HttpRequest } from '../../../../infra/local/gateway/http-message.ts';
import { mockResponse, readProxyResult } from '../../../../infra/local/gateway/integrations.ts';

function requestWith(...headers: [string, string][]): HttpRequest {
  return { method: 'GET', path: '/', query: '', headers, body: Buffer.alloc(0), sourceIp: '127.0.0.1' };
}

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

describe('a mock integration', () => {
  test.each([
    ['without a media type', []],
    ['with an empty one', [['Content-Type', '']]],
    ['of another listed type', [['content-type', 'text/plain']]],
    ['with parameters to the type', [['Content-Type', 'text/plain; charset=utf-8']]],
    ['with the type in capitals', [['CONTENT-TYPE', 'TEXT/Plain']]],
  ] as [string, [string, string][]][])('responds to a request %s', (_name, headers) => {
    expect(mockResponse(integration, requestWith(...headers))).toEqual({
      status: 405,
      headers: { 'Content-Type': 'application/json', Allow: 'GET' },
      body: '{"status":405}',
    });
  });

  test.each(['image/png', 'text/plainer', 'toString', '__proto__'])('has no response to %s', (mediaType) => {
    expect(mockResponse(integration, requestWith(['Content-Type', mediaType]))).toBeUndefined();
  });
});

describe('the result of a function', () => {
  test('becomes the response, by default with the type JSON', () => {
    expect(readProxyResult('{"statusCode":201,"headers":{"Location":"/1"},"body":"{}"}')).toEqual({
      status: 201,
      headers: { 'Content-Type': 'application/json', Location: '/1' },
      body: '{}',
    });
    expect(readProxyResult('{"statusCode":200,"headers":{"Content-Type":"text/plain"}}')?.headers).toEqual({
      'Content-Type': 'text/plain',
    });
  });

  test.each(['{"statusCode":204}', '{"statusCode":204,"body":"","headers":{}}'])(
    'without content becomes a response without Content-Type: %s',
    (result) => {
      expect(readProxyResult(result)).toEqual({ status: 204, headers: {}, body: '' });
    },
  );

  test('may have numbers and booleans as header values', () => {
    expect(readProxyResult('{"statusCode":200,"headers":{"Age":5,"X":true}}')?.headers).toMatchObject({
      Age: '5',
      X: 'true',
    });
  });

  test('has WWW-Authenticate renamed, as API Gateway does', () => {
    const result = { statusCode: 200, headers: { 'www-authenticate': 'Bearer' } };
    expect(readProxyResult(JSON.stringify(result))?.headers).toEqual({
      'Content-Type': 'application/json',
      'x-amzn-Remapped-www-authenticate': 'Bearer',
    });
  });

  test.each([
    ['null', null],
    ['a string', 'ok'],
    ['an empty object', {}],
    ['an unknown member', { statusCode: 200, cookies: [] }],
    ['a status as text', { statusCode: '200' }],
    ['a status with a fraction', { statusCode: 200.5 }],
    ['an object as body', { statusCode: 200, body: {} }],
    ['an object as header', { statusCode: 200, headers: { A: {} } }],
    ['a body in base64, which is not modelled', { statusCode: 200, isBase64Encoded: true }],
  ])('is malformed with %s', (_name, result) => {
    expect(readProxyResult(JSON.stringify(result))).toBeUndefined();
  });
});
