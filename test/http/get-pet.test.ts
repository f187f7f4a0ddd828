import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, baseAddress, linkTo, postPet, request } from '../support/client.ts';
import { expectError, expectSuccess } from '../support/expectations.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { NewPet, type Pet } from '../../shared/contract/schemas.ts';
import { exampleOf } from '../../infra/documents/openapi/examples.ts';
import { addPet, addPets, titled, untilListed } from '../support/pets.ts';

describe('GET /v1/pets/{petId}', () => {
  let pet: Pet;

  beforeAll(async () => {
    pet = await addPet({ status: 'pending' });
  });

  test('gives the pet', async () => {
    const answer = await request(`/pets/${pet.id}`);
    expectSuccess(answer, 200);
    expect(answer.body).toEqual(pet);
    expect(answer.text).toContain(`"id":${pet.id},`);
  });

  // A member that storage does not know would be stored and then lost.
  test.each([0, 1])(
    'gives every member of the schema as it was sent, as does the list (example %d)',
    async (example) => {
      const sent = exampleOf(NewPet, example) as Record<string, unknown>;
      expect(Object.keys(sent)).toEqual(Object.keys(NewPet.entries));
      const { body: created } = await postPet(stringifyJson(sent));
      expect(created).toEqual({ id: created.id, ...sent });
      expect((await request(`/pets/${created.id}`)).body).toEqual(created);
      await untilListed([created]);
      expect((await request('/pets?limit=100')).body).toContainEqual(created);
    },
  );

  test('gives a pet without status without that member', async () => {
    const { id } = await addPet();
    expect((await request(`/pets/${id}`)).text).not.toContain('status');
  });

  test('gives every pet from the moment that it was added', async () => {
    const pets = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { body, headers } = await postPet({ name: 'Rex', categoryId: -1 });
        return { added: body as unknown, found: (await request(headers.get('Location')!)).body as unknown };
      }),
    );
    expect(pets.map(({ found }) => found)).toEqual(pets.map(({ added }) => added));
  });

  test('tells pets apart', async () => {
    const pets = await addPets(5);
    const answers = await Promise.all(pets.map(({ id }) => request(`/pets/${id}`)));
    expect(answers.map(({ body }) => body as unknown)).toEqual(pets);
  });

  test('understands percent-encoded digits', async () => {
    const digits = Array.from(pet.id.toString(), (digit) => `%3${digit}`).join('');
    const answer = await request(`/pets/${digits}`);
    expectSuccess(answer, 200);
    expect(answer.body).toEqual(pet);
  });

  test('ignores a query', async () => {
    expect((await request(`/pets/${pet.id}?limit=0&status=lost&%zz=%ff`)).body).toEqual(pet);
  });

  describe('answers that there is no such pet', () => {
    test.each(
      titled([
        '0',
        '-0',
        '1',
        '-1',
        '-9223372036854775808',
        '9223372036854775807',
        '9223372036854775808',
        '-9223372036854775809',
        '18446744073709551617',
        '9'.repeat(1_000),
        'abc',
        'null',
        'NaN',
        'Infinity',
        '5.0',
        '5.5',
        '05',
        '+5',
        '%2B5',
        '1e3',
        '0x1',
        '1n',
        '1,2',
        '1;2',
        '1%2F2',
        '%2F',
        '%20',
        '5%20',
        '%0A5',
        '5%00',
        '%D9%A5',
        '%EF%BC%95',
        '%zz',
        '%',
        '5%',
        '%ff',
        '__proto__',
        '{petId}',
        'a'.repeat(4_000),
      ]),
    )('for the id %s', async (_title, id) => {
      const answer = await request(`/pets/${id}`);
      expectError(answer, 'not_found');
    });

    test.each([
      ['a leading zero', (id: bigint) => `0${id}`],
      ['a sign', (id: bigint) => `+${id}`],
      ['a fraction', (id: bigint) => `${id}.0`],
      ['white space', (id: bigint) => `%20${id}`],
      ['a line break', (id: bigint) => `${id}%0A`],
      ['the opposite sign', (id: bigint) => `-${id}`],
      ['2^64 added', (id: bigint) => `${id + 2n ** 64n}`],
      ['an exponent', (id: bigint) => `${id}e0`],
    ])('for the id of a pet with %s', async (_case, spell) => {
      expectError(await request(`/pets/${spell(pet.id)}`), 'not_found');
    });
  });

  describe('announces that it goes away', () => {
    test.each([
      ['with a pet', () => pet.id.toString()],
      ['when there is no such pet', () => '1'],
      ['when it cannot be the id of a pet', () => 'abc'],
      ['when the id cannot be decoded', () => '%zz'],
    ])('%s', async (_case, id) => {
      expectDeprecation(await request(`/pets/${id()}`));
    });

    test('while the other operations announce nothing', async () => {
      const answers = [
        await request('/pets'),
        await postPet({ name: 'Rex', categoryId: 1 }),
        await postPet({}),
      ];
      for (const { headers } of answers) {
        expect([headers.get('Deprecation'), headers.get('Sunset')]).toEqual([null, null]);
      }
    });
  });
});

function expectDeprecation(answer: Answer): void {
  const { headers } = answer;
  expect(headers.get('Deprecation')).toMatch(/^@\d{10}$/);
  expect(headers.get('Sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
  const since = Number(headers.get('Deprecation')?.slice(1)) * 1_000;
  expect(since).toBeLessThan(Date.parse('2030-12-05T00:00:00Z'));
  expect(linkTo('successor-version', answer)).toBe(`${baseAddress}/pets`);
}
