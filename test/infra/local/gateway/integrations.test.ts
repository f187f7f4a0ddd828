import { describe, expect, test } from '@jest/globals';
import type { HttpRequest } from '../../../../infra/local/gateway/http-message.ts';
import { answerMock, readProxyResult } from '../../../../infra/local/gateway/integrations.ts';

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
      ResponseParameters: { Allow: 'GET' },
      ResponseTemplates: { 'application/json': '{"status":405}' },
    },
  ] as [any],
};

describe('a mock integration', () => {
  test.each([
    ['without a media type', []],
    ['with an empty one', [['Content-Type', '']]],
    ['of the type application/json', [['Content-Type', 'application/json']]],
    ['of another listed type', [['content-type', 'text/plain']]],
    ['with parameters to the type', [['Content-Type', 'text/plain; charset=utf-8']]],
    ['with the type in capitals', [['CONTENT-TYPE', 'TEXT/Plain']]],
  ] as [string, [string, string][]][])('answers a request %s', (_name, headers) => {
    expect(answerMock(integration, requestWith(...headers))).toEqual({
      status: 405,
      headers: { 'Content-Type': 'application/json', Allow: 'GET' },
      body: '{"status":405}',
    });
  });

  test.each(['image/png', 'text/plainer', 'toString', '__proto__'])('has no answer to %s', (mediaType) => {
    expect(answerMock(integration, requestWith(['Content-Type', mediaType]))).toBeUndefined();
  });
});

describe('the result of a function', () => {
  test('becomes the answer, as JSON unless it says otherwise', () => {
    expect(readProxyResult('{"statusCode":201,"headers":{"Location":"/1"},"body":"{}"}')).toEqual({
      status: 201,
      headers: { 'Content-Type': 'application/json', Location: '/1' },
      body: '{}',
    });
    expect(readProxyResult('{"statusCode":200,"headers":{"Content-Type":"text/plain"}}')?.headers).toEqual({
      'Content-Type': 'text/plain',
    });
  });

  test('may leave out all but the status', () => {
    expect(readProxyResult('{"statusCode":204}')).toMatchObject({ status: 204, body: '' });
  });

  test('may have numbers and booleans for headers', () => {
    expect(readProxyResult('{"statusCode":200,"headers":{"Age":5,"X":true}}')?.headers).toMatchObject({
      Age: '5',
      X: 'true',
    });
  });

  test('has a challenge under another name, as API Gateway passes it on', () => {
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
    ['null as body', { statusCode: 200, body: null }],
    ['an object as header', { statusCode: 200, headers: { A: {} } }],
    ['a list as header', { statusCode: 200, headers: { A: ['b'] } }],
    ['null as header', { statusCode: 200, headers: { A: null } }],
    ['a body in base64, which no function of this stack gives', { statusCode: 200, isBase64Encoded: true }],
  ])('is malformed with %s', (_name, result) => {
    expect(readProxyResult(JSON.stringify(result))).toBeUndefined();
  });
});
