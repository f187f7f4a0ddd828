import { describe, expect, test } from '@jest/globals';
import { readProxyResult } from '../../../../infra/local/gateway/integrations.ts';

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
    ['an unknown member', { statusCode: 200, cookies: [] }],
    ['a status with a fraction', { statusCode: 200.5 }],
    ['an object as body', { statusCode: 200, body: {} }],
    ['an object as header', { statusCode: 200, headers: { A: {} } }],
    ['a body in base64, which is not modelled', { statusCode: 200, isBase64Encoded: true }],
  ])('is malformed with %s', (_name, result) => {
    expect(readProxyResult(JSON.stringify(result))).toBeUndefined();
  });
});
