import { describe, expect, test } from '@jest/globals';
import { methodsByPath } from '../../shared/contract/gateway-responses.ts';
import { anonymousRequest, expectError, request, rootUrl } from '../support/client.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'];

/** Every method that an address does not allow, with the methods that it allows. */
const disallowed = Array.from(methodsByPath()).flatMap(([path, allowed]) =>
  METHODS.filter((method) => !allowed.includes(method)).map((method) => ({
    method,
    address: path.replace('/v1', '').replaceAll(/\{\w+\}/g, '1'),
    allow: allowed.join(', '),
  })),
);

describe('An unknown address', () => {
  test.each([
    '/',
    '/v1',
    '/v1/',
    '/v1/petss',
    '/v1/Pets',
    '/v1/pets/1/2',
    '/v1/pets.json',
    '/v1/pets%20',
    '/v1/*',
    '/v2/pets',
    '/pets',
    '/openapi.json',
    '/v1/__proto__',
    '/v1/pets%zz',
    '/v1/%ff',
    '/{proxy+}',
    '/v1/pet?limit=0&%zz',
  ])('is not found, with or without an API key: %s', async (path) => {
    for (const send of [request, anonymousRequest]) {
      expectError(await send(`${rootUrl}${path}`), 'not_found');
    }
  });

  describe.each(['/', '/v1', '/v1/orders'])('is not found, whatever the method: %s', (path) => {
    test.each(METHODS)('%s', async (method) => {
      expectError(await anonymousRequest(`${rootUrl}${path}`, { method }), 'not_found');
    });
  });

  test('is not looked up for a body that is too large', async () => {
    const init = { method: 'PUT', body: ' '.repeat(11_000_000) };
    expectError(await anonymousRequest(`${rootUrl}/v1/orders`, init), 'request_too_large');
  });
});

describe('A method that the address does not allow', () => {
  test.each(disallowed)(
    'is rejected, with or without an API key: $method $address',
    async ({ method, address, allow }) => {
      for (const send of [request, anonymousRequest]) {
        const response = await send(address, { method });
        expectError(response, 'method_not_allowed');
        if (response.isRejectedByAws) continue;
        expect(response.headers.get('Allow')).toBe(allow);
      }
    },
  );

  test.each(['application/json', 'text/plain; charset=utf-8', 'application/x-www-form-urlencoded'])(
    'is rejected with a body of the type %s',
    async (mediaType) => {
      const init = { headers: { 'Content-Type': mediaType }, body: '{"name":"Rex"}' };
      for (const { method, address } of disallowed.filter((other) => other.method === 'PUT')) {
        expectError(await anonymousRequest(address, { ...init, method }), 'method_not_allowed');
      }
    },
  );
});
