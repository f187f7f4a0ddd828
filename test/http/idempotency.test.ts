import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type Answer, postPet, request } from '../support/client.ts';
import { expectError, expectSuccess } from '../support/expectations.ts';
import { addPet, petsAddedAfter, uniqueName } from '../support/pets.ts';

/** What an answer says of the pet. */
function essence({ status, text, headers }: Answer): unknown {
  return { status, text, location: headers.get('Location') };
}

function post(body: unknown, key: string): Promise<Answer> {
  return postPet(body, { 'Idempotency-Key': key });
}

describe('POST /v1/pets with an Idempotency-Key', () => {
  test('answers every repetition as the first, and makes one pet', async () => {
    const before = await addPet();
    const pet = { name: uniqueName(), categoryId: 1, status: 'sold' };
    const key = randomUUID();
    const first = await post(pet, key);
    expectSuccess(first, 201);
    expect(first.body).toEqual({ id: expect.any(BigInt), ...pet, categoryId: 1n });
    for (let repetition = 0; repetition < 3; repetition += 1) {
      expect(essence(await post(pet, key))).toEqual(essence(first));
    }
    const added = (await petsAddedAfter(before)).filter(({ name }) => name === pet.name);
    expect(added).toEqual([first.body]);
  });

  test('answers repetitions at the same time with the same pet', async () => {
    const before = await addPet();
    const pet = { name: uniqueName(), categoryId: 1 };
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(pet, key)));
    expect(answers.map(essence)).toEqual(answers.map(() => essence(answers[0]!)));
    expectSuccess(answers[0]!, 201);
    const added = (await petsAddedAfter(before)).filter(({ name }) => name === pet.name);
    expect(added).toEqual([answers[0]!.body]);
  });

  test('takes the same key bare, in quotes and in a header of any case', async () => {
    const pet = { name: uniqueName(), categoryId: 1 };
    const key = randomUUID();
    const first = await post(pet, key);
    expect(essence(await post(pet, `"${key}"`))).toEqual(essence(first));
    expect(essence(await postPet(pet, { 'idempotency-key': key }))).toEqual(essence(first));
  });

  test('takes the same pet in other words for a repetition', async () => {
    const key = randomUUID();
    const first = await post('{"name":"Rex","categoryId":5}', key);
    const second = await post(String.raw`{ "colour": "red", "categoryId": 5.0, "name": "R\u0065x" }`, key);
    expect(essence(second)).toEqual(essence(first));
  });

  test.each([
    ['another name', '{"name":"Ann","categoryId":5}'],
    ['another category', '{"name":"Rex","categoryId":6}'],
    ['a status', '{"name":"Rex","categoryId":5,"status":"available"}'],
  ])('is refused with %s, and keeps its pet', async (_what, body) => {
    const key = randomUUID();
    const first = await post('{"name":"Rex","categoryId":5}', key);
    expectError(await post(body, key), 'idempotency_key_reused');
    expect(essence(await post('{"name":"Rex","categoryId":5}', key))).toEqual(essence(first));
    expect((await request(`/pets/${first.body.id}`)).body).toEqual(first.body);
  });

  test('is not used up by a body that is refused', async () => {
    const key = randomUUID();
    expectError(await post('{"name":"Rex"}', key), 'invalid_request');
    expectSuccess(await post('{"name":"Rex","categoryId":5}', key), 201);
  });

  test('makes a pet for each key', async () => {
    const [one, other] = await Promise.all([
      post('{"name":"Rex","categoryId":5}', randomUUID()),
      post('{"name":"Rex","categoryId":5}', randomUUID()),
    ]);
    expect(one.body.id).not.toBe(other.body.id);
  });

  test('may have 255 characters, all visible ones of ASCII among them', async () => {
    const all = Array.from({ length: 94 }, (_, index) => String.fromCodePoint(0x21 + index));
    const key = `${all.filter((character) => character !== '"').join('')}"`.padEnd(219, 'a') + randomUUID();
    expect(key).toHaveLength(255);
    const first = await post('{"name":"Rex","categoryId":5}', key.slice(1));
    expectSuccess(first, 201);
    expectSuccess(await post('{"name":"Rex","categoryId":5}', key), 201);
  });

  test.each([
    ['an empty string', '""'],
    ['a space inside', 'a b'],
    ['a quote that does not close', '"a'],
    ['more behind the quotes', '"a";b=1'],
    ['an accent', 'caf\u00e9'],
    ['256 characters', 'a'.repeat(256)],
  ])('is refused, by name, when it is %s', async (_what, key) => {
    const answer = await post('{"name":"Rex","categoryId":5}', key);
    expectError(answer, 'invalid_request');
    expect(answer.body.message).toMatch(/^Idempotency-Key must be 1 to 255 visible ASCII characters/);
  });
});
