import { beforeAll, describe, expect, test } from '@jest/globals';
import { exampleOf } from '../../infra/documents/openapi/examples.ts';
import { errorCatalogue } from '../../shared/contract/errors.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { type Operation, operations } from '../../shared/contract/operations.ts';
import type { Pet } from '../../shared/contract/schemas.ts';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { type ApiResponse, anonymousRequest, apiKey, expectError, request } from '../support/client.ts';
import { addPet, petsNamed, uniqueName } from '../support/pets.ts';

const stage = /^pets_(.+)_[^_]+$/.exec(apiKey)?.[1] ?? '';

const requests = Object.values<Operation>(operations).map(({ id, method, path, request: { entries } }) => ({
  id,
  address: path.replace('/v1', '').replaceAll(/\{\w+\}/g, '1'),
  init: { method, body: entries.body && stringifyJson(exampleOf(entries.body)) },
}));

describe.each(requests)('$id', ({ address, init }) => {
  test.each([
    ['no API key', address, {}],
    ['no API key and a slash at the end', `${address}/`, {}],
    ['an unknown API key', address, bearer(generateApiKey(stage))],
    ['the API key in the query', `${address}?api_key=${apiKey}&Authorization=Bearer%20${apiKey}`, {}],
  ])('is rejected with %s', async (_what, target, headers) => {
    expectUnauthorized(await anonymousRequest(target, { ...init, headers }));
  });

  test('is allowed with the API key', async () => {
    expect([200, 201, 204, 404]).toContain((await request(address, init)).status);
  });
});

describe('A create', () => {
  const marker = uniqueName();
  const init = { method: 'POST', body: JSON.stringify({ name: marker, categoryId: 1 }) };
  let first: Pet;

  beforeAll(async () => {
    first = await addPet();
  });

  test.each<[string, Record<string, string>]>([
    ['an empty header', { Authorization: '' }],
    ['the scheme alone', { Authorization: 'Bearer' }],
    ['the key alone', { Authorization: apiKey }],
    ['another scheme', { Authorization: `Basic ${apiKey}` }],
    ['the scheme twice', bearer(`Bearer ${apiKey}`)],
    ['no space after the scheme', { Authorization: `Bearer${apiKey}` }],
    ['the key in quotes', bearer(`"${apiKey}"`)],
    ['a token that is not a key', bearer('secret')],
    ['an AWS signature', { Authorization: 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=0' }],
    ['a key of another stage', bearer(generateApiKey('elsewhere'))],
    ['another first random character', bearer(changed(`pets_${stage}_`.length))],
    ['another last character', bearer(changed(-1))],
    ['one character less', bearer(apiKey.slice(0, -1))],
    ['one character more', bearer(`${apiKey}0`)],
    ['the key in upper case', bearer(apiKey.toUpperCase())],
    ['two keys', bearer(`${apiKey}, Bearer ${apiKey}`)],
    ['the key in X-Api-Key', { 'X-Api-Key': apiKey }],
    ['the key in a cookie', { Cookie: `Authorization=Bearer ${apiKey}` }],
  ])('is rejected with %s', async (_what, headers) => {
    expectUnauthorized(await anonymousRequest('/pets', { ...init, headers }));
  });

  test('that was rejected is not stored', async () => {
    expect(await petsNamed(marker, first)).toEqual([]);
  });
});

describe('Without an API key', () => {
  test.each([
    ['GET', '/pets?limit=0&status=lost', undefined],
    ['GET', '/pets/abc', undefined],
    ['POST', '/pets', '{}'],
    ['POST', '/pets', ' '.repeat(70_000)],
  ])('a client does not learn what else is wrong with %s %s', async (method, address, body) => {
    expectUnauthorized(await anonymousRequest(address, { method, body }));
  });
});

describe('With the API key', () => {
  test.each([
    ['Authorization', 'bearer'],
    ['Authorization', 'BEARER'],
    ['aUTHORIZATION', 'bEaReR'],
  ])('the case does not matter in %s: %s', async (header, scheme) => {
    const headers = { [header]: `${scheme} ${apiKey}` };
    expect((await anonymousRequest('/pets', { headers })).status).toBe(200);
  });
});

/** Expects the same body, whatever is wrong with the key. */
function expectUnauthorized(response: ApiResponse): void {
  expectError(response, 'unauthorized', errorCatalogue.unauthorized.message);
}

function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}

/** The key with another character at this place. */
function changed(place: number): string {
  const characters = Array.from(apiKey);
  return characters.with(place, characters.at(place) === 'a' ? 'b' : 'a').join('');
}
