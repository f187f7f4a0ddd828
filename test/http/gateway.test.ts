import { describe, expect, test } from '@jest/globals';
import { anonymousRequest, expectError, request, rootUrl } from './client.ts';

// API Gateway itself returns these responses, so they need no API key.

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'];

describe('a request to an unknown path gets a 404', () => {
  test.each([
    '/',
    '/v1',
    '/pets',
    '/v2/pets',
    '/v1/PETS',
    '/v1/petss',
    '/v1/pets%20',
    '/v1/pets/1/2',
    '/v1/__proto__',
    '/v1/%ff',
    '/{proxy+}',
    '/v1/pet?limit=0&%zz',
  ])('with and without an API key (%s)', async (path) => {
    for (const send of [request, anonymousRequest])
      expectError(await send(`${rootUrl}${path}`), 404, 'not_found');
  });

  test('whatever its method is', async () => {
    for (const path of ['/', '/v1', '/v1/unknown'])
      for (const method of METHODS)
        expectError(await anonymousRequest(`${rootUrl}${path}`, { method }), 404, 'not_found');
  });

  test('or a 413 if the body exceeds 10 MB', async () => {
    const init = { method: 'PUT', body: ' '.repeat(11_000_000) };
    expectError(await anonymousRequest(`${rootUrl}/v1/unknown`, init), 413, 'request_too_large');
  });
});

test.each([
  ['/pets', ['GET', 'POST'], 'This URL supports GET and POST.'],
  ['/pets/1', ['GET'], 'This URL supports GET.'],
])('a request to %s with another method gets a 405 that names %j', async (path, methods, message) => {
  for (const method of METHODS.filter((one) => !methods.includes(one))) {
    const response = await anonymousRequest(path, { method });
    expectError(response, 405, 'method_not_allowed', message);
    if (response.isRejectedByAws) continue;
    expect(response.headers.get('Allow')).toBe(methods.join(', '));
  }
  expectError(await request(path, { method: 'PUT' }), 405, 'method_not_allowed');
});

test('a PUT gets a 405 with any Content-Type', async () => {
  for (const type of ['application/json', 'text/plain; charset=utf-8', 'application/x-www-form-urlencoded']) {
    const init = { method: 'PUT', headers: { 'Content-Type': type }, body: '{}' };
    expectError(await anonymousRequest('/pets', init), 405, 'method_not_allowed');
  }
});
