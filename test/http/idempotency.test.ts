import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type ApiResponse, expectError, expectSuccess, postPet, request } from '../support/client.ts';
import { addPet, petsNamed, uniqueName } from '../support/pets.ts';

const rex = '{"name":"Rex","categoryId":5}';

function post(body: unknown, key: string): Promise<ApiResponse> {
  return postPet(body, { 'Idempotency-Key': key });
}

/** Returns the parts of a response that must be the same for all retries. */
function reproducible({ status, text, headers }: ApiResponse): unknown {
  return { status, text, location: headers.get('Location') };
}

describe('POST /v1/pets with an Idempotency-Key', () => {
  test('adds one pet for a request and its retries', async () => {
    const before = await addPet();
    const name = uniqueName();
    const key = randomUUID();
    const body = JSON.stringify({ name, categoryId: 5 });
    const first = await post(body, key);
    expectSuccess(first, 201);
    expect(first.body).toEqual({ id: expect.any(BigInt), name, categoryId: 5n });
    const retries = [
      await post(body, key),
      await post(body, `"${key}"`),
      await postPet(body, { 'idempotency-key': key }),
      await post(`{ "color": "red", "categoryId": 5.0, "n\\u0061me": "${name}" }`, key),
    ];
    expect(retries.map(reproducible)).toEqual(retries.map(() => reproducible(first)));
    expect(await petsNamed(name, before)).toEqual([first.body]);
  });

  test('adds one pet for concurrent retries', async () => {
    const before = await addPet();
    const pet = { name: uniqueName(), categoryId: 1 };
    const key = randomUUID();
    const responses = await Promise.all(Array.from({ length: 10 }, () => post(pet, key)));
    expectSuccess(responses[0]!, 201);
    expect(responses.map(reproducible)).toEqual(responses.map(() => reproducible(responses[0]!)));
    expect(await petsNamed(pet.name, before)).toEqual([responses[0]!.body]);
  });

  test.each([
    ['a different name', '{"name":"Ann","categoryId":5}'],
    ['a different category', '{"name":"Rex","categoryId":6}'],
    ['an additional status', '{"name":"Rex","categoryId":5,"status":"available"}'],
  ])('rejects a retry with %s', async (_case, body) => {
    const key = randomUUID();
    const first = await post(rex, key);
    expectError(await post(body, key), 'idempotency_key_reused');
    expect(reproducible(await post(rex, key))).toEqual(reproducible(first));
    expect((await request(`/pets/${first.body.id}`)).body).toEqual(first.body);
  });

  test('accepts the idempotency key of a rejected request', async () => {
    const key = randomUUID();
    expectError(await post('{"name":"Rex"}', key), 'invalid_request');
    expectSuccess(await post(rex, key), 201);
  });

  test('distinguishes keys of up to 255 visible ASCII characters', async () => {
    const visible = Array.from({ length: 94 }, (_, index) => String.fromCodePoint(0x21 + index));
    const characters = visible.filter((character) => character !== '"').join('');
    const longest = `${characters}"`.padEnd(219, 'a') + randomUUID();
    expect(longest).toHaveLength(255);
    const [one, other] = [await post(rex, longest), await post(rex, longest.slice(1))];
    expectSuccess(one, 201);
    expectSuccess(other, 201);
    expect(one.body.id).not.toBe(other.body.id);
  });

  test.each([
    ['an empty key', '""'],
    ['a key with a space', 'a b'],
    ['a key with an unclosed quote', '"a'],
    ['a key with an accent', 'caf\u00e9'],
    ['a key of 256 characters', 'a'.repeat(256)],
  ])('rejects %s', async (_case, key) => {
    const message = expect.stringMatching(
      /^Idempotency-Key must be a single value of 1 to 255 visible ASCII characters/,
    );
    const [before, name] = [await addPet(), uniqueName()];
    expectError(await post({ name, categoryId: 5 }, key), 'invalid_request', message);
    expect(await petsNamed(name, before)).toEqual([]);
  });
});
