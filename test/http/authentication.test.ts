import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { generateApiKey } from '../../shared/api-keys.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { collectionTests, firstCollection } from '../collections/all.ts';
import { type ApiResponse, anonymousRequest, apiKey, expectError, request } from '../support/client.ts';
import { addItem, itemsWith } from '../support/items.ts';
import { product } from '../support/product.ts';

const stage = new RegExp(`^${product.keyStart}_([a-z][a-z\\d]*)_`).exec(apiKey)?.[1] ?? '';

const listPath = firstCollection.path;
const first = await addItem(firstCollection);

const requests: { method: string; path: string; body: string | undefined }[] = [];
for (const collection of Object.values(collectionTests)) {
  const { id } = await addItem(collection);
  for (const { route } of Object.values(collection.operations)) {
    const [method, path] = route.split('/v1') as [string, string];
    const body = method === 'GET' ? undefined : stringifyJson(collection.newItem('a text'));
    requests.push({ method, path: path.replace('*', `${id}`), body });
  }
}

describe.each(requests)('$method $path', ({ method, path, body }) => {
  test.each([
    ['a missing API key', path, {}],
    ['a missing API key and a trailing slash', `${path}/`, {}],
    ['an unknown API key', path, bearer(generateApiKey(stage))],
    ['an API key in the query', `${path}?api_key=${apiKey}&Authorization=Bearer%20${apiKey}`, {}],
  ])('returns a 401 for %s', async (_case, target, headers) => {
    expectUnauthorized(await anonymousRequest(target, { method, body, headers }));
  });

  test('accepts a valid API key', async () => {
    const { status } = await request(path, { method, body });
    expect([401, 403]).not.toContain(status);
  });
});

describe(`POST ${listPath}`, () => {
  const text = randomUUID();
  const init = { method: 'POST', body: stringifyJson(firstCollection.newItem(text)) };

  test.each<[string, Record<string, string>]>([
    ['an empty Authorization header', { Authorization: '' }],
    ['a key without a scheme', { Authorization: apiKey }],
    ['a different scheme', { Authorization: `Basic ${apiKey}` }],
    ['a repeated scheme', bearer(`Bearer ${apiKey}`)],
    ['an AWS signature', { Authorization: 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=0' }],
    ['a key for a different stage', bearer(generateApiKey('elsewhere'))],
    [
      'a key whose last character is wrong',
      bearer(apiKey.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))),
    ],
    ['a key in upper case', bearer(apiKey.toUpperCase())],
    ['two keys', bearer(`${apiKey}, Bearer ${apiKey}`)],
    ['a key in the header X-Api-Key', { 'X-Api-Key': apiKey }],
  ])('returns a 401 for %s', async (_case, headers) => {
    expectUnauthorized(await anonymousRequest(listPath, { ...init, headers }));
  });

  test('does not store the items of requests that got a 401', async () => {
    expect(await itemsWith(text, firstCollection, first)).toEqual([]);
  });
});

describe('a request without an API key', () => {
  test.each([
    ['an invalid limit and cursor', 'GET', `${listPath}?limit=0&cursor=nonsense`, undefined],
    ['an invalid id', 'GET', `${listPath}/abc`, undefined],
    ['an invalid item', 'POST', listPath, '{}'],
    ['a body that is too large', 'POST', listPath, ' '.repeat(70_000)],
  ])('gets a 401 even if it also has %s', async (_error, method, path, body) => {
    expectUnauthorized(await anonymousRequest(path, { method, body }));
  });
});

test('the names of the Authorization header and of its scheme are not case-sensitive', async () => {
  const headers = { aUTHORIZATION: `bEaReR ${apiKey}` };
  expect((await anonymousRequest(listPath, { headers })).status).toBe(200);
});

/** Expects the same response for every cause of a 401, so that clients learn nothing about valid keys. */
function expectUnauthorized(response: ApiResponse): void {
  const message = 'A valid API key is required. Send it as Authorization: Bearer <API_KEY>.';
  expectError(response, 401, 'unauthorized', message);
  if (response.isRejectedByAws) return;
  expect(response.headers.get('WWW-Authenticate')).toBe(`Bearer realm="${product.realm}"`);
}

function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}
