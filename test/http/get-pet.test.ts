import { beforeAll, describe, expect, test } from '@jest/globals';
import { exampleOf } from '../../infra/documents/openapi/examples.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { NewPet, type Pet } from '../../shared/contract/schemas.ts';
import { baseUrl, expectError, expectSuccess, linkTo, postPet, request } from '../support/client.ts';
import { addPet, untilListed } from '../support/pets.ts';

let pet: Pet;

beforeAll(async () => {
  pet = await addPet({ status: 'pending' });
});

describe('GET /v1/pets/{petId}', () => {
  test.each<[string, (id: bigint) => string]>([
    ['its id', (id) => `${id}`],
    ['percent-encoded digits', (id) => Array.from(`${id}`, (digit) => `%3${digit}`).join('')],
    ['a slash at the end', (id) => `${id}/`],
    ['a query, which is ignored', (id) => `${id}?limit=0&status=lost`],
    ['a malformed query, which is ignored', (id) => `${id}?%zz=%ff`],
  ])('finds the pet under %s', async (_what, spell) => {
    const response = await request(`/pets/${spell(pet.id)}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.text).toBe(stringifyJson(pet));
  });

  // A member that storage does not know would be accepted and then lost.
  test('returns every member of the schema as sent, as the list does', async () => {
    const sent = exampleOf(NewPet) as Record<string, unknown>;
    expect(Object.keys(sent)).toEqual(Object.keys(NewPet.entries));
    const { body: created } = await postPet(stringifyJson(sent));
    expect(created).toEqual({ id: created.id, ...sent });
    expect((await request(`/pets/${created.id}`)).body).toEqual(created);
    expect(await untilListed([created])).toContainEqual(created);
  });

  test.each<[string, (id: bigint) => string]>([
    ['that no pet has', () => '1'],
    ['of -2^63', () => '-9223372036854775808'],
    ['beyond int64', () => '9223372036854775808'],
    ['that equals one modulo 2^64', (id) => `${id + 2n ** 64n}`],
    ['with the opposite sign', (id) => `-${id}`],
    ['with a plus sign', (id) => `+${id}`],
    ['with a space', (id) => `%20${id}`],
    ['with a line break', (id) => `${id}%0A`],
    ['with a slash', (id) => `${id}%2F2`],
    ['with a malformed percent-encoding', (id) => `${id}%zz`],
    ['with a byte that is not UTF-8', (id) => `${id}%ff`],
    ['that is the name of the parameter', () => '{petId}'],
    ['of 4,000 letters', () => 'a'.repeat(4_000)],
  ])('is not found with an id %s', async (_what, spell) => {
    expectError(await request(`/pets/${spell(pet.id)}`), 'not_found');
  });
});

describe('The deprecation', () => {
  test.each([
    ['a pet', () => `/${pet.id}`],
    ['a pet, with a slash at the end', () => `/${pet.id}/`],
    ['an id that no pet has', () => '/1'],
    ['an id that cannot be decoded', () => '/%zz'],
  ])('is announced with %s', async (_what, path) => {
    const response = await request(`/pets${path()}`);
    if (response.isRejectedByAws) return;
    const [deprecation, sunset] = ['Deprecation', 'Sunset'].map((name) => response.headers.get(name));
    expect(deprecation).toMatch(/^@\d{10}$/);
    expect(Number(deprecation!.slice(1)) * 1_000).toBeLessThan(Date.parse(sunset!));
    expect(sunset).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
    expect(linkTo('successor-version', response)).toBe(`${baseUrl}/pets`);
  });
});
