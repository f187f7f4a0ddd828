import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { generateApiKey } from '../../shared/api-keys.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { anonymousRequest, apiKey, expectError, request } from './client.ts';
import { newPet } from '../support/pets.ts';
import { addPet, petsNamed } from './lists.ts';

const stage = /^pets_([a-z][a-z\d]*)_/.exec(apiKey)?.[1] ?? '';
const stored = await addPet();
const name = randomUUID();
const create = { method: 'POST', body: stringifyJson(newPet(name)) };

describe.each([
  ['GET', '/pets', undefined],
  ['POST', '/pets', stringifyJson(newPet('a text'))],
  ['GET', '/pets/{petId}', undefined],
])('%s %s', (method, template, body) => {
  const path = template.replace('{petId}', `${stored.id}`);

  test('returns a 401 unless the request has an API key', async () => {
    for (const address of [path, `${path}/`, `${path}?api_key=${apiKey}&Authorization=Bearer%20${apiKey}`])
      expectError(await anonymousRequest(address, { method, body }), 401, 'unauthorized');
    expect([200, 201]).toContain((await request(path, { method, body })).status);
  });
});

describe('a request gets a 401', () => {
  test.each<[string, Record<string, string>]>([
    ['an empty Authorization header', { Authorization: '' }],
    ['a key without a scheme', { Authorization: apiKey }],
    ['a different scheme', { Authorization: `Basic ${apiKey}` }],
    ['a repeated scheme', bearer(`Bearer ${apiKey}`)],
    ['an AWS signature', { Authorization: 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=0' }],
    ['an unknown key', bearer(generateApiKey(stage))],
    ['a key for a different stage', bearer(generateApiKey('elsewhere'))],
    ['a misspelled key', bearer(apiKey.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')))],
    ['a key in upper case', bearer(apiKey.toUpperCase())],
    ['two keys', bearer(`${apiKey}, Bearer ${apiKey}`)],
    ['a key in the header X-Api-Key', { 'X-Api-Key': apiKey }],
  ])('for %s', async (_case, headers) => {
    expectError(await anonymousRequest('/pets', { ...create, headers }), 401, 'unauthorized');
  });

  test('and stores nothing', async () => {
    expect(await petsNamed(name, stored)).toEqual([]);
  });

  test('even if it is also invalid', async () => {
    for (const [method, path, body] of [
      ['GET', '/pets?limit=0&cursor=nonsense', undefined],
      ['GET', '/pets/abc', undefined],
      ['POST', '/pets', '{}'],
      ['POST', '/pets', ' '.repeat(70_000)],
    ] as const)
      expectError(await anonymousRequest(path, { method, body }), 401, 'unauthorized');
  });

  test('that is the same for every cause, so that clients learn nothing about valid keys', async () => {
    const bodies = new Set<string>();
    for (const headers of [
      {},
      bearer('x'),
      bearer(generateApiKey(stage)),
      bearer(generateApiKey('elsewhere')),
    ]) {
      const response = await anonymousRequest('/pets', { headers });
      expectError(response, 401, 'unauthorized');
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="petstore"');
      bodies.add(response.text);
    }
    expect(bodies.size).toBe(1);
  });
});

test('the names of the Authorization header and of its scheme are not case-sensitive', async () => {
  const headers = { aUTHORIZATION: `bEaReR ${apiKey}` };
  expect((await anonymousRequest('/pets', { headers })).status).toBe(200);
});

function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}
