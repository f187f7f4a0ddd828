import { describe, expect, test } from '@jest/globals';
import { baseUrl, expectError, expectSuccess, post, request } from '../support/client.ts';

const created = await post('{"name":"Mia","categoryId":9007199254740993,"status":"sold"}');
const id: bigint = created.body.id;
const encodedId = Array.from(`${id}`, (digit) => `%3${digit}`).join('');

describe('GET /pets/{petId}', () => {
  test.each([
    ['its id', id],
    ['its id in percent-encoded digits', encodedId],
    ['its id with a trailing slash', `${id}/`],
    ['its id with a malformed query', `${id}?%zz=%ff`],
  ])('returns the pet for %s', async (_case, path) => {
    const response = await request(`/pets/${path}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.text).toBe(created.text);
  });

  test.each([
    ['an id that no pet has', '1'],
    ['zero', '0'],
    ['the lowest int64', '-9223372036854775808'],
    ['an id that exceeds int64', '9223372036854775808'],
    ["an id that equals the pet's id modulo 2^64", `${id + 2n ** 64n}`],
    ["the pet's id with a minus sign", `-${id}`],
    ["the pet's id with a leading zero", `0${id}`],
    ["the pet's id with a fraction", `${id}.0`],
    ["the pet's id with an encoded slash", `${id}%2F2`],
    ["the pet's id with malformed percent-encoding", `${id}%zz`],
    ["the pet's id with a digit that is percent-encoded twice", `${id}`.replace(/.$/, '%253$&')],
    ['a placeholder', '{id}'],
    ['an id of 4,000 letters', 'a'.repeat(4_000)],
  ])('returns a 404 for %s', async (_case, path) => {
    expectError(await request(`/pets/${path}`), 404, 'not_found');
  });

  test('announces its removal and links to the list of pets', async () => {
    for (const petId of [id, '1']) {
      const { headers } = await request(`/pets/${petId}`);
      expect(headers.get('Deprecation')).toBe('@1795219200');
      expect(headers.get('Sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
      expect(headers.get('Link')).toBe(`<${baseUrl}/pets>; rel="successor-version"`);
    }
  });
});
