import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { collectionTests } from '../collections/all.ts';
import { expectError, expectSuccess, post, request } from '../support/client.ts';

const stored = await Promise.all(
  Object.values(collectionTests).map(async ({ path, newItem }) => {
    const { body, text } = await post(path, newItem('a text'), { 'Idempotency-Key': randomUUID() });
    return { path, id: body.id as bigint, text };
  }),
);

describe.each(stored)('GET $path/{id}', ({ path, id, text }) => {
  const encodedId = Array.from(`${id}`, (digit) => `%3${digit}`).join('');

  test.each([
    ['its id', id],
    ['its id in percent-encoded digits', encodedId],
    ['its id with a trailing slash', `${id}/`],
  ])('returns the item for %s', async (_case, address) => {
    const response = await request(`${path}/${address}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.text).toBe(text);
  });

  test('returns a 400 for a query, because the operation has no parameters', async () => {
    const response = await request(`${path}/${id}?fields=id`);
    const message = 'unknown query parameters: "fields" (known: none).';
    expectError(response, 400, 'invalid_request', message);
  });

  test.each([
    ['an id that no item has', '1'],
    ['the id zero', '0'],
    ['the lowest int64 as the id', '-9223372036854775808'],
    ["the item's id with a minus sign", `-${id}`],
  ])('returns a 404 for %s', async (_case, address) => {
    const message = expect.stringMatching(/^No .+ has the id -?\d+\.$/);
    expectError(await request(`${path}/${address}`), 404, 'not_found', message);
  });

  test.each([
    ['an id that exceeds int64', '9223372036854775808'],
    ["an id that equals the item's id modulo 2^64", `${id + 2n ** 64n}`],
    ["the item's id with a leading zero", `0${id}`],
    ["the item's id with a fraction", `${id}.0`],
    ['an id of 4,000 letters', 'a'.repeat(4_000)],
  ])('returns a 404 whose message describes valid ids (%s)', async (_case, address) => {
    const message = expect.stringMatching(
      /^\w+Id must be a single integer from -9223372036854775808 to 9223372036854775807 in decimal digits, without leading zeros\.$/,
    );
    expectError(await request(`${path}/${address}`), 404, 'not_found', message);
  });

  test.each([
    ["the item's id with an encoded slash", `${id}%2F2`],
    ["the item's id with malformed percent-encoding", `${id}%zz`],
    ["the item's id with a digit that is percent-encoded twice", `${id}`.replace(/.$/, '%253$&')],
    ['a placeholder instead of an id', '{id}'],
  ])('returns a 404 for %s', async (_case, address) => {
    expectError(await request(`${path}/${address}`), 404, 'not_found');
  });
});
