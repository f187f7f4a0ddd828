import { describe, expect, test } from '@jest/globals';
import { stringifyJson } from '../../shared/contract/json.ts';
import { expectError, expectSuccess, request } from '../support/client.ts';
import { addItem } from '../support/resources.ts';
import { get, itemsPath } from '../support/sample.ts';

const item = await addItem();

describe(`${get.method} ${get.path}`, () => {
  test.each<[string, (id: bigint) => string]>([
    ['its id', (id) => `${id}`],
    ['its id in percent-encoded digits', (id) => Array.from(`${id}`, (digit) => `%3${digit}`).join('')],
    ['its id with a trailing slash', (id) => `${id}/`],
    ['its id with a malformed query', (id) => `${id}?%zz=%ff`],
  ])('returns the item for %s', async (_case, path) => {
    const response = await request(`${itemsPath}/${path(item.id)}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.text).toBe(stringifyJson(item));
  });

  test.each<[string, (id: bigint) => string]>([
    ['an id that no item has', () => '1'],
    ['an id that exceeds int64', () => '9223372036854775808'],
    ["an id that equals the item's id modulo 2^64", (id) => `${id + 2n ** 64n}`],
    ['an id with a minus sign', (id) => `-${id}`],
    ['an id with an encoded slash', (id) => `${id}%2F2`],
    ['an id with malformed percent-encoding', (id) => `${id}%zz`],
    ['its id with a digit that is percent-encoded twice', (id) => `${id}`.replace(/.$/, '%253$&')],
    ['a placeholder', () => '{id}'],
    ['an id of 4,000 letters', () => 'a'.repeat(4_000)],
  ])('returns 404 for %s', async (_case, path) => {
    expectError(await request(`${itemsPath}/${path(item.id)}`), 'not_found');
  });
});
