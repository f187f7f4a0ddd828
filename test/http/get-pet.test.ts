import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { expectError, expectSuccess, post, publicBaseUrl, request } from './client.ts';
import { newPet } from '../support/pets.ts';

const { body, text } = await post('/pets', newPet('Rex'), { 'Idempotency-Key': randomUUID() });
const id: bigint = body.id;

describe('GET /pets/{petId}', () => {
  test.each([
    ['its id', `${id}`],
    ['its id in percent-encoded digits', `${id}`.replaceAll(/\d/g, '%3$&')],
    ['its id with a trailing slash', `${id}/`],
  ])('returns the pet for %s', async (_case, address) => {
    const response = await request(`/pets/${address}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.text).toBe(text);
  });

  test('announces its removal and links to the list of pets', async () => {
    for (const petId of [id, '1']) {
      const { headers } = await request(`/pets/${petId}`);
      expect(headers.has('Deprecation') && headers.has('Sunset')).toBe(true);
      expect(headers.get('Link')).toBe(`<${publicBaseUrl}/pets>; rel="successor-version"`);
    }
  });

  test('returns a 400 for a query, because the operation has no parameters', async () => {
    expectError(await request(`/pets/${id}?fields=id`), 400, 'invalid_request');
  });

  test.each([
    ['an id that no pet has', '1'],
    ['the lowest int64 as the id', '-9223372036854775808'],
    ['an id that exceeds int64', '9223372036854775808'],
    ["an id that equals the pet's id modulo 2^64", `${id + 2n ** 64n}`],
    ["the pet's id with a leading zero", `0${id}`],
    ["the pet's id with a fraction", `${id}.0`],
    ["the pet's id with an encoded slash", `${id}%2F2`],
    ["the pet's id with malformed percent-encoding", `${id}%zz`],
    ["the pet's id with a digit that is percent-encoded twice", `${id}`.replace(/.$/, '%253$&')],
    ['a placeholder instead of an id', '{id}'],
    ['an id of 4,000 letters', 'a'.repeat(4_000)],
  ])('returns a 404 for %s', async (_case, address) => {
    expectError(await request(`/pets/${address}`), 404, 'not_found');
  });
});
