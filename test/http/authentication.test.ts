import { describe, expect, test } from '@jest/globals';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { type Answer, anonymousRequest, apiKey } from '../support/client.ts';
import { expectError } from '../support/expectations.ts';
import { addPet, petsAddedAfter, uniqueName } from '../support/pets.ts';

const stage = /^pets_(.+)_[^_]+$/.exec(apiKey)?.[1] ?? '';
const marker = uniqueName();

const operations: [name: string, method: string, address: string, body: string | undefined][] = [
  ['listPets', 'GET', '/pets', undefined],
  ['createPet', 'POST', '/pets', JSON.stringify({ name: marker, categoryId: 1 })],
  ['getPet', 'GET', '/pets/1', undefined],
];

const refusedHeaders: [what: string, headers: Record<string, string>][] = [
  ['none', {}],
  ['an empty one', { Authorization: '' }],
  ['the scheme alone', { Authorization: 'Bearer' }],
  ['the scheme and a space', { Authorization: 'Bearer ' }],
  ['the key alone', { Authorization: apiKey }],
  ['the scheme Basic', { Authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}` }],
  ['the key with the scheme Basic', { Authorization: `Basic ${apiKey}` }],
  ['the key with the scheme Token', { Authorization: `Token ${apiKey}` }],
  ['the scheme twice', { Authorization: `Bearer Bearer ${apiKey}` }],
  ['scheme and key without a space', { Authorization: `Bearer${apiKey}` }],
  ['the key in quotes', { Authorization: `Bearer "${apiKey}"` }],
  ['a token that is no key', { Authorization: 'Bearer secret' }],
  [
    'a signature of AWS',
    { Authorization: 'AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=0' },
  ],
  ['a well-formed key that nobody has', { Authorization: `Bearer ${generateApiKey(stage)}` }],
  ['a well-formed key of another stage', { Authorization: `Bearer ${generateApiKey('elsewhere')}` }],
  ['the key with its first random character changed', bearer(changed(`pets_${stage}_`.length))],
  ['the key with a character in its middle changed', bearer(changed(-20))],
  ['the key with its last character changed', bearer(changed(-1))],
  ['the key with a character less', bearer(apiKey.slice(0, -1))],
  ['the key with a character more', bearer(`${apiKey}0`)],
  ['the key in capitals', bearer(apiKey.toUpperCase())],
  ['the key and more', { Authorization: `Bearer ${apiKey} ${apiKey}` }],
  ['the key and another', { Authorization: `Bearer ${apiKey}, Bearer ${generateApiKey(stage)}` }],
  ['the key in X-Api-Key', { 'X-Api-Key': apiKey }],
  ['the key in a cookie', { Cookie: `Authorization=Bearer ${apiKey}` }],
];

describe('Without a valid API key', () => {
  describe.each(operations)('%s', (_name, method, address, body) => {
    test.each(refusedHeaders)('is refused with one and the same answer: %s', async (_what, headers) => {
      const refused = await anonymousRequest(address, init(method, headers, body));
      const unauthenticated = await anonymousRequest(address, init(method, {}, body));
      expectUnauthorized(refused);
      expect(refused.text).toBe(unauthenticated.text);
    });

    test.each(['access_token', 'api_key', 'key', 'Authorization'])(
      'is refused when the key is in the query as %s',
      async (name) => {
        const answer = await anonymousRequest(`${address}?${name}=${apiKey}`, init(method, {}, body));
        expectUnauthorized(answer);
      },
    );
  });

  test.each([
    ['a query', 'GET', '/pets?limit=0&status=lost', undefined],
    ['an id', 'GET', '/pets/abc', undefined],
    ['a body', 'POST', '/pets', '{}'],
    ['a body that is too large', 'POST', '/pets', ' '.repeat(70_000)],
    ['a body that is not JSON', 'POST', '/pets', '{'],
  ])('nobody is told what is wrong with %s', async (_what, method, address, body) => {
    expectUnauthorized(await anonymousRequest(address, init(method, {}, body)));
  });

  test('nothing is kept', async () => {
    const first = await addPet();
    const [, method, address, body] = operations[1]!;
    for (const [, headers] of refusedHeaders) await anonymousRequest(address, init(method, headers, body));
    expect((await petsAddedAfter(first)).filter(({ name }) => name === marker)).toEqual([]);
  });
});

describe('With a valid API key', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('the scheme may be written %s', async (scheme) => {
    const headers = { Authorization: `${scheme} ${apiKey}` };
    expect((await anonymousRequest('/pets', { headers })).status).toBe(200);
  });

  test('the name of the header may be in any case', async () => {
    const headers = { aUTHORIZATION: `Bearer ${apiKey}` };
    expect((await anonymousRequest('/pets', { headers })).status).toBe(200);
  });

  test('every operation is open, whichever was asked for first', async () => {
    const headers = { Authorization: `Bearer ${apiKey}` };
    const answers = [
      await anonymousRequest('/pets/1', { headers }),
      await anonymousRequest('/pets', init('POST', headers, '{"name":"Rex","categoryId":1}')),
      await anonymousRequest('/pets', { headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 201, 200]);
  });

  test('a wrong one in between changes nothing', async () => {
    const answers = [];
    for (const key of [apiKey, generateApiKey(stage), apiKey, changed(-1), apiKey]) {
      answers.push(await anonymousRequest('/pets', { headers: bearer(key) }));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 401, 200]);
  });
});

function expectUnauthorized(answer: Answer): void {
  expectError(answer, 'unauthorized');
  expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="petstore"');
}

function init(method: string, headers: Record<string, string>, body?: string) {
  return body === undefined
    ? { method, headers }
    : { method, headers: { 'Content-Type': 'application/json', ...headers }, body };
}

function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}

/** The key with another character at this place. */
function changed(place: number): string {
  const characters = Array.from(apiKey);
  return characters.with(place, characters.at(place) === 'a' ? 'b' : 'a').join('');
}
