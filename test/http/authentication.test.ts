import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { exampleOf } from '../../infra/documents/openapi/schema-objects.ts';
import { errorCatalog } from '../../shared/contract/errors.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { type ApiResponse, anonymousRequest, apiKey, expectError, request } from '../support/client.ts';
import { addItem, itemsWith } from '../support/resources.ts';
import { bodyWith, itemsPath } from '../support/sample.ts';

const stage = /^[^_]+_(.+)_[^_]+$/.exec(apiKey)?.[1] ?? '';

const first = await addItem();

const requests = Object.values<Operation>(operations).map(({ id, method, path, request: { entries } }) => ({
  id,
  target: path.replace('/v1', '').replaceAll(/\{\w+\}/g, '1'),
  init: { method, body: entries.body && stringifyJson(exampleOf(entries.body)) },
}));

describe.each(requests)('$id', ({ target, init }) => {
  test.each([
    ['a missing API key', target, {}],
    ['a missing API key and a trailing slash', `${target}/`, {}],
    ['an unknown API key', target, bearer(generateApiKey(stage))],
    ['an API key in the query', `${target}?api_key=${apiKey}&Authorization=Bearer%20${apiKey}`, {}],
  ])('returns 401 for %s', async (_case, path, headers) => {
    expectUnauthorized(await anonymousRequest(path, { ...init, headers }));
  });

  test('accepts a valid API key', async () => {
    expect([200, 201, 204, 404]).toContain((await request(target, init)).status);
  });
});

describe('the create operation', () => {
  const marker = randomUUID();
  const init = { method: 'POST', body: stringifyJson(bodyWith(marker)) };

  test.each<[string, Record<string, string>]>([
    ['an empty header', { Authorization: '' }],
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
    ['a key in X-Api-Key', { 'X-Api-Key': apiKey }],
  ])('returns 401 for %s', async (_case, headers) => {
    expectUnauthorized(await anonymousRequest(itemsPath, { ...init, headers }));
  });

  test('does not store a rejected item', async () => {
    expect(await itemsWith(marker, first)).toEqual([]);
  });
});

describe('a request without an API key', () => {
  test.each([
    ['GET', `${itemsPath}?limit=0&cursor=nonsense`, undefined],
    ['GET', `${itemsPath}/abc`, undefined],
    ['POST', itemsPath, '{}'],
    ['POST', itemsPath, ' '.repeat(70_000)],
  ])('gets a 401 even if it has other errors (%s %s)', async (method, path, body) => {
    expectUnauthorized(await anonymousRequest(path, { method, body }));
  });
});

test('the names of the Authorization header and of its scheme are not case-sensitive', async () => {
  const headers = { aUTHORIZATION: `bEaReR ${apiKey}` };
  expect((await anonymousRequest(itemsPath, { headers })).status).toBe(200);
});

/** Expects the same Error body for every cause of a 401, so that clients learn nothing about valid keys. */
function expectUnauthorized(response: ApiResponse): void {
  expectError(response, 'unauthorized', errorCatalog.unauthorized.message);
}

function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}
