import { beforeAll, describe, expect, test } from '@jest/globals';
import { methodsByPath } from '../../shared/contract/gateway-responses.ts';
import type { Pet } from '../../shared/contract/schemas.ts';
import { anonymousRequest, isDeployed, request, rootAddress } from '../support/client.ts';
import { expectCommonHeaders, expectError, expectSuccess } from '../support/expectations.ts';
import { addPet, titled } from '../support/pets.ts';

describe('An address that is not ours', () => {
  const addresses = [
    '/',
    '/v1',
    '/v1/',
    '/v1/pet',
    '/v1/petss',
    '/v1/Pets',
    '/V1/pets',
    '/v1/pets/1/2',
    '/v1/pets/1/2/3',
    '/v1/orders',
    '/v1/store/orders',
    '/v1/pets.json',
    '/v1/pets%20',
    '/v1/*',
    '/v2/pets',
    '/v2/pets/1',
    '/pets',
    '/pets/1',
    '/v1/v1/pets',
    '/openapi.json',
    '/favicon.ico',
    '/.env',
    '/constructor',
    '/v1/__proto__',
    `/v1/${'a'.repeat(4_000)}`,
    // The front end of API Gateway may refuse these by itself.
    ...(isDeployed ? [] : ['/v1/pets%zz', '/v1/%ff', '/{proxy+}']),
  ];

  describe.each([
    ['with a key', request],
    ['without a key', anonymousRequest],
  ])('asked for %s', (_case, send) => {
    test.each(titled(addresses))('is not found: %s', async (_title, address) => {
      expectError(await send(`${rootAddress}${address}`), 'not_found');
    });

    test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
      'is not found with %s either',
      async (method) => {
        expectError(await send(`${rootAddress}/v1/orders`, { method }), 'not_found');
        expectError(await send(`${rootAddress}/`, { method }), 'not_found');
      },
    );

    test('is not found with HEAD, without a body', async () => {
      const answer = await send(`${rootAddress}/v1/orders`, { method: 'HEAD' });
      expect([answer.status, answer.text]).toEqual([404, '']);
    });

    test('is not found with a query and a body', async () => {
      const headers = { 'Content-Type': 'application/json' };
      const init = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' };
      expectError(await send(`${rootAddress}/v1/pet?limit=0&%zz`, init), 'not_found');
    });
  });

  test('is not looked at with a body that is too large', async () => {
    const init = { method: 'PUT', body: ' '.repeat(11_000_000) };
    expectError(await anonymousRequest(`${rootAddress}/v1/orders`, init), 'request_too_large');
  });

  test('is not found with a key that is not valid', async () => {
    const headers = { Authorization: 'Bearer secret' };
    expectError(await anonymousRequest(`${rootAddress}/v2/pets`, { headers }), 'not_found');
  });

  test('is not found with a signature of AWS', async () => {
    const headers = { Authorization: 'AWS4-HMAC-SHA256 Credential=a' };
    expectError(await anonymousRequest(`${rootAddress}/v2/pets`, { headers }), 'not_found');
  });
});

/** An address of each route, the methods that it takes, and those that it refuses. */
const refusedMethods = Array.from(methodsByPath(), ([path, taken]): [string, string, string[]] => [
  path.replace('/v1', '').replaceAll(/\{\w+\}/g, '1'),
  taken.join(', '),
  ['PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'].filter((method) => !taken.includes(method)),
]);

describe('A method that an address does not take', () => {
  describe.each([
    ['with a key', request],
    ['without a key', anonymousRequest],
  ])('sent %s', (_case, send) => {
    describe.each(refusedMethods)('to %s', (address, allowed, methods) => {
      test.each(methods)('is refused with the ones that it takes: %s', async (method) => {
        const answer = await send(address, { method });
        expectError(answer, 'method_not_allowed');
        expect(answer.headers.get('Allow')).toBe(allowed);
      });

      test.each(['application/json', 'text/plain; charset=utf-8', 'application/x-www-form-urlencoded'])(
        'is refused with a body of the type %s',
        async (mediaType) => {
          const headers = { 'Content-Type': mediaType };
          const answer = await send(address, { method: methods[0]!, headers, body: '{"name":"Rex"}' });
          expectError(answer, 'method_not_allowed');
          expect(answer.headers.get('Allow')).toBe(allowed);
        },
      );

      test('is refused without a body when it is HEAD', async () => {
        const answer = await send(address, { method: 'HEAD' });
        expect([answer.status, answer.text]).toEqual([405, '']);
        expect(answer.headers.get('Allow')).toBe(allowed);
        expectCommonHeaders(answer);
      });
    });
  });

  test('leaves the pet as it was', async () => {
    const { id, ...pet } = await addPet();
    const [, , methods] = refusedMethods.find(([address]) => address === '/pets/1')!;
    for (const method of methods) {
      const body = '{"name":"Other","categoryId":2}';
      await request(`/pets/${id}`, { method, headers: { 'Content-Type': 'application/json' }, body });
    }
    expect((await request(`/pets/${id}`)).body).toEqual({ id, ...pet });
  });
});

describe('A slash at the end of an address', () => {
  let pet: Pet;

  beforeAll(async () => {
    pet = await addPet();
  });

  test('changes nothing about a list and its links', async () => {
    const answer = await request('/pets/?limit=1');
    expectSuccess(answer, 200);
    expect(answer.body).toHaveLength(1);
    expect(answer.headers.get('Link')).toMatch(`<${rootAddress}/v1/pets?limit=1&`);
  });

  test('changes nothing about a pet', async () => {
    const answer = await request(`/pets/${pet.id}/`);
    expectSuccess(answer, 200);
    expect(answer.body).toEqual(pet);
    expect(answer.headers.get('Link')).toBe(`<${rootAddress}/v1/pets>; rel="successor-version"`);
  });

  test('changes nothing about a new pet and its address', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const body = '{"name":"Rex","categoryId":1}';
    const answer = await request('/pets/', { method: 'POST', headers, body });
    expectSuccess(answer, 201);
    expect(answer.headers.get('Location')).toBe(`${rootAddress}/v1/pets/${answer.body.id}`);
  });

  // What API Gateway makes of an empty segment is its own affair.
  (isDeployed ? test.skip : test)('twice is no pet', async () => {
    expectError(await request('/pets//'), 'not_found');
  });

  test('does not let anybody in without a key', async () => {
    expectError(await anonymousRequest('/pets/'), 'unauthorized');
    expectError(await anonymousRequest(`/pets/${pet.id}/`), 'unauthorized');
  });
});
