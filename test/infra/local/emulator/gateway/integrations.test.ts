import { describe, expect, test } from '@jest/globals';
import { readProxyResult } from '../../../../../infra/local/emulator/gateway/integrations.ts';

describe('the result of a function', () => {
  const json = { 'Content-Type': 'application/json' };
  test.each([
    [
      'becomes a JSON response if it has no Content-Type',
      { statusCode: 201, headers: { Location: '/1', Age: 5, X: true }, body: '{}' },
      { status: 201, headers: { ...json, Location: '/1', Age: '5', X: 'true' }, body: '{}' },
    ],
    [
      'can set a different Content-Type',
      { statusCode: 200, headers: { 'Content-Type': 'text/plain' } },
      { status: 200, headers: { 'Content-Type': 'text/plain' }, body: '' },
    ],
    ['needs no Content-Type for the status 204', { statusCode: 204 }, { status: 204, headers: {}, body: '' }],
    [
      'becomes a response with a renamed WWW-Authenticate header',
      { statusCode: 200, headers: { 'www-authenticate': 'Bearer' } },
      { status: 200, headers: { ...json, 'x-amzn-Remapped-www-authenticate': 'Bearer' }, body: '' },
    ],
  ])('%s', (_name, result, response) => {
    expect(readProxyResult(JSON.stringify(result))).toEqual(response);
  });

  test.each([
    ['is null', null],
    ['has an unknown field', { statusCode: 200, cookies: [] }],
    ['has a fractional status', { statusCode: 200.5 }],
    ['has an object as its body', { statusCode: 200, body: {} }],
    ['has an object as a header', { statusCode: 200, headers: { A: {} } }],
    ['has a base64 body', { statusCode: 200, isBase64Encoded: true }],
  ])('is malformed if it %s', (_name, result) => {
    expect(readProxyResult(JSON.stringify(result))).toBeUndefined();
  });
});
