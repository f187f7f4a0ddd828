import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type ApiResponse, expectError, expectSuccess, post, request } from './client.ts';
import { newPet } from '../support/pets.ts';
import { addPet, petsNamed } from './lists.ts';

/** Returns the parts of a response that must be equal for a request and its retries. */
function reproducible({ status, text, headers }: ApiResponse): unknown {
  return { status, text, location: headers.get('Location') };
}

function postWith(key: string, body: unknown): Promise<ApiResponse> {
  return post('/pets', body, { 'Idempotency-Key': key });
}

describe('POST /pets with an Idempotency-Key', () => {
  test('creates one pet for a request and its retries', async () => {
    const before = await addPet();
    const [name, key] = [randomUUID(), randomUUID()];
    const first = await postWith(key, newPet(name));
    expectSuccess(first, 201);
    const retries = [
      await postWith(key, newPet(name)),
      await postWith(`"${key}"`, newPet(name)),
      await post('/pets', newPet(name), { 'idempotency-key': key }),
    ];
    expect(retries.map(reproducible)).toEqual(retries.map(() => reproducible(first)));
    expect(await petsNamed(name, before)).toEqual([first.body]);
  });

  test('creates one pet for concurrent requests', async () => {
    const before = await addPet();
    const [name, key] = [randomUUID(), randomUUID()];
    const responses = await Promise.all(Array.from({ length: 10 }, () => postWith(key, newPet(name))));
    expectSuccess(responses[0]!, 201);
    expect(responses.map(reproducible)).toEqual(responses.map(() => reproducible(responses[0]!)));
    expect(await petsNamed(name, before)).toEqual([responses[0]!.body]);
  });

  test('creates two pets for two keys', async () => {
    const ids = [await postWith(randomUUID(), newPet('Rex')), await postWith(randomUUID(), newPet('Rex'))];
    expect(new Set(ids.map(({ body }) => body.id)).size).toBe(2);
  });

  test('rejects a request whose body differs in any byte, and keeps the first pet', async () => {
    const [key, body] = [randomUUID(), '{"name":"Rex","categoryId":9007199254740992,"status":"sold"}'];
    const first = await postWith(key, body);
    // A double cannot distinguish the integer of the second body from that of the first.
    const others = [
      body.replace('Rex', 'Mia'),
      body.replace('9007199254740992', '9007199254740993'),
      `${body} `,
    ];
    for (const other of others) expectError(await postWith(key, other), 422, 'idempotency_key_reused');
    expect(reproducible(await postWith(key, body))).toEqual(reproducible(first));
    expect((await request(`/pets/${first.body.id}`)).body).toEqual(first.body);
  });

  test('accepts a key whose first request was rejected', async () => {
    const key = randomUUID();
    expectError(await postWith(key, '{}'), 400, 'invalid_request');
    expectSuccess(await postWith(key, newPet('Rex')), 201);
  });

  test.each([`${randomUUID()}${'x'.repeat(219)}`, `"two words, ${randomUUID()}"`])(
    'accepts the key %s',
    async (key) => expectSuccess(await postWith(key, newPet('Rex')), 201),
  );

  test('rejects an invalid key, and stores nothing', async () => {
    const before = await addPet();
    const name = randomUUID();
    for (const key of ['', '""', 'two words', '"a"b', '"\\a"', 'x'.repeat(256), 'caf\u00e9'])
      expectError(await postWith(key, newPet(name)), 400, 'invalid_request');
    expect(await petsNamed(name, before)).toEqual([]);
  });
});
