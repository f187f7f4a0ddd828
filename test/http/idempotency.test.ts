import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type ApiResponse, expectError, expectSuccess, post, request } from '../support/client.ts';
import { addPet, petsNamed } from '../support/pets.ts';

const rex = { name: 'Rex', categoryId: 7, status: 'available' };

function postWith(key: string, body: unknown): Promise<ApiResponse> {
  return post(body, { 'Idempotency-Key': key });
}

/** Returns the parts of a response that must be equal for a request and its retries. */
function reproducible({ status, text, headers }: ApiResponse): unknown {
  return { status, text, location: headers.get('Location') };
}

describe('POST /pets with an Idempotency-Key', () => {
  test('creates one pet for a request and its retries', async () => {
    const before = await addPet();
    const name = randomUUID();
    const key = randomUUID();
    const body = { ...rex, name };
    const first = await postWith(key, body);
    expectSuccess(first, 201);
    expect(first.body).toEqual({ id: expect.any(BigInt), name, categoryId: 7n, status: 'available' });
    const retries = [
      await postWith(key, body),
      await postWith(`"${key}"`, body),
      await post(body, { 'idempotency-key': key }),
      // The fields are in a different order, a letter is escaped, and an unknown field is added.
      await postWith(
        key,
        `{ "x": 1, "status": "\\u0061vailable", "categoryId": 7.0, "n\\u0061me": "${name}" }`,
      ),
    ];
    expect(retries.map(reproducible)).toEqual(retries.map(() => reproducible(first)));
    expect(await petsNamed(name, before)).toEqual([first.body]);
  });

  test('creates one pet for concurrent requests', async () => {
    const before = await addPet();
    const name = randomUUID();
    const key = randomUUID();
    const responses = await Promise.all(Array.from({ length: 10 }, () => postWith(key, { ...rex, name })));
    expectSuccess(responses[0]!, 201);
    expect(responses.map(reproducible)).toEqual(responses.map(() => reproducible(responses[0]!)));
    expect(await petsNamed(name, before)).toEqual([responses[0]!.body]);
  });

  test.each([
    '{"name":"Mia","categoryId":7,"status":"available"}',
    '{"name":"rex","categoryId":7,"status":"available"}',
    '{"name":"Rex","categoryId":8,"status":"available"}',
    '{"name":"Rex","categoryId":-7,"status":"available"}',
    '{"name":"Rex","categoryId":7,"status":"sold"}',
    '{"name":"Rex","categoryId":7}',
  ])('rejects a second request with the different pet %s', async (other) => {
    const key = randomUUID();
    const first = await postWith(key, rex);
    expectError(await postWith(key, other), 422, 'idempotency_key_reused');
    expect(reproducible(await postWith(key, rex))).toEqual(reproducible(first));
    expect((await request(`/pets/${first.body.id}`)).body).toEqual(first.body);
  });

  test('rejects a second request whose categoryId differs by less than a double can represent', async () => {
    const key = randomUUID();
    expectSuccess(await postWith(key, '{"name":"Rex","categoryId":9007199254740993}'), 201);
    const second = await postWith(key, '{"name":"Rex","categoryId":9007199254740992}');
    expectError(second, 422, 'idempotency_key_reused');
  });

  test('accepts a key whose first request was rejected', async () => {
    const key = randomUUID();
    expectError(await postWith(key, {}), 400, 'invalid_request');
    expectSuccess(await postWith(key, rex), 201);
  });

  test('treats escaped characters in a quoted key as the characters themselves', async () => {
    const key = randomUUID();
    const first = await postWith(`${key}\\"`, rex);
    expectSuccess(first, 201);
    expect(reproducible(await postWith(`"${key}\\\\\\""`, rex))).toEqual(reproducible(first));
  });

  test.each([`${randomUUID()}${'x'.repeat(219)}`, `"two words, ${randomUUID()}"`])(
    'accepts the key %s',
    async (key) => expectSuccess(await postWith(key, rex), 201),
  );

  test.each(['', '""', 'two words', '"a"b', '"\\a"', 'x'.repeat(256), 'caf\u00e9'])(
    'rejects the key %p',
    async (key) => {
      const before = await addPet();
      const name = randomUUID();
      const rule = 'Idempotency-Key must be a single value of 1 to 255 visible ASCII characters';
      const message = expect.stringMatching(`^${rule}`);
      expectError(await postWith(key, { ...rex, name }), 400, 'invalid_request', message);
      expect(await petsNamed(name, before)).toEqual([]);
    },
  );
});
