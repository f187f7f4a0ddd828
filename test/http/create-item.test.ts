import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { stringifyJson } from '../../shared/contract/json.ts';
import { collectionTests } from '../collections/all.ts';
import { expectError, expectSuccess, post, publicBaseUrl, request } from '../support/client.ts';
import { variantOf } from '../support/collection-tests.ts';
import { addItem, itemsWith, type StoredItem } from '../support/items.ts';

const BODY_LIMIT_BYTES = 65_536;
const NO_JSON =
  'Content-Type must be application/json, another application type ending in +json, or omitted.';

describe.each(Object.values(collectionTests))('POST $path', ({ path, newItem, variants }) => {
  const item = newItem('a text');
  const json = stringifyJson(item);

  test.each([{}, ...variants].map((fields) => stringifyJson(variantOf(item, fields))))(
    'stores the item %s',
    (body) => expectStored(path, body),
  );

  test.each(['"id":5', '"list":"x"', '"creation":"x"', '"__proto__":{"id":5}'])(
    'does not store the unknown field %s',
    async (field) => {
      await expectStored(path, json.replace('{', `{${field},`), json);
    },
  );

  const nulls = Object.keys(item).map((name) => `"${name}":null,`);
  test.each([
    ['with repeated fields', json.replace('{', `{${nulls.join('')}`)],
    ['with 1,000 levels of nesting', `${json.slice(0, -1)},"x":${nested(999)}}`],
    ['of 64 KiB', json.padEnd(BODY_LIMIT_BYTES)],
  ])('accepts a body %s', async (_case, body) => {
    await expectStored(path, body, json);
  });

  test.each<Record<string, string>>([
    {},
    { 'Content-Type': 'Application/JSON', 'Content-Encoding': 'identity' },
    { 'Content-Type': 'application/json; charset="utf8"' },
    { 'Content-Type': 'application/vnd.api+json' },
  ])('accepts a body with the headers %j', async (headers) => {
    expectSuccess(await request(path, { method: 'POST', headers, body: json }), 201);
  });
});

describe.each(Object.values(collectionTests))('POST $path with invalid input', (collection) => {
  const { path, newItem, invalid } = collection;
  /** Text in rejected items. The last test checks that no item contains it. */
  const text = randomUUID();
  const rejected = stringifyJson(newItem(text));
  let first: StoredItem;
  beforeAll(async () => {
    first = await addItem(collection);
  });

  test('returns a 400 with a message about all invalid fields', async () => {
    expectError(await post(path, invalid.item), 400, 'invalid_request', invalid.message);
  });

  test('returns a 400 with the position of a syntax error', async () => {
    const message = 'The body is not valid JSON at line 2, column 8.';
    expectError(await post(path, '{"x":"",\r\n"🐕":0,}'), 400, 'invalid_request', message);
  });

  // Either message is right, because the depth that the parser supports depends on the stack size.
  const tooDeep =
    /^The body (?:is nested too deeply\. Use at most 1,000 levels|must be a JSON object, not an array)\.$/;
  test.each<[string, string | Uint8Array, string | RegExp]>([
    ['that is empty', '', 'The body is missing. It must be a JSON object.'],
    ['of spaces', ' \r\n', 'The body is missing. It must be a JSON object.'],
    ['that is an array', `[${rejected}]`, 'The body must be a JSON object, not an array.'],
    ['that is a number', '5', 'The body must be a JSON object, not a number.'],
    ['that is null', 'null', 'The body must be a JSON object, not null.'],
    [
      'that was converted to JSON twice',
      JSON.stringify(rejected),
      'The body must be a JSON object, not a string.',
    ],
    ['that is truncated', rejected.slice(0, -1), /^The body is not valid JSON at line 1, column \d+\.$/],
    [
      'that is form-encoded',
      `text=${text}`,
      'The body is not valid JSON. Check for missing quotes, and for values such as NaN, None or undefined.',
    ],
    [
      'in UTF-16',
      Buffer.from(rejected, 'utf16le'),
      /^The body (?:is not valid JSON|must be encoded in UTF-8)/,
    ],
    ['that is nested too deeply', nested(30_000, rejected), tooDeep],
  ])('returns a 400 for a body %s', async (_case, body, message) => {
    expectError(await post(path, body), 400, 'invalid_request', expect.stringMatching(message));
  });

  test('returns a 413 for a body of more than 64 KiB', async () => {
    // The number of characters does not exceed the limit, but the number of bytes does.
    const body = stringifyJson(newItem(`${text}\u00e9`)).padEnd(BODY_LIMIT_BYTES);
    expectError(await post(path, body), 413, 'request_too_large', 'The body must not exceed 65536 bytes.');
  });

  test.each<[string, Record<string, string>, (string | Uint8Array)?]>([
    [NO_JSON, { 'Content-Type': 'application/x-www-form-urlencoded' }],
    [NO_JSON, { 'Content-Type': 'image/svg+json' }],
    [
      'The charset of Content-Type must be utf-8 or omitted.',
      { 'Content-Type': 'application/json; charset=iso-8859-1' },
    ],
    // This case uses gzip, because API Gateway itself rejects all content codings except identity, gzip and deflate.
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-make-request-with-compressed-payload.html
    ['Content-Encoding must be identity or omitted.', { 'Content-Encoding': 'gzip' }, gzipSync(rejected)],
  ])('returns a 415 with the message "%s" for the headers %j', async (message, headers, body = rejected) => {
    expectError(await post(path, body, headers), 415, 'unsupported_media_type', message);
  });

  test('does not store any rejected item', async () => {
    expect(await itemsWith(text, collection, first)).toEqual([]);
  });
});

/**
 * Sends `body`. Expects that the response is the `item` with an id as its first field, and that the URL in `Location`
 * returns the same item.
 */
async function expectStored(path: string, body: string, item: string = body): Promise<void> {
  const response = await post(path, body);
  expectSuccess(response, 201);
  expect(response.text.replace(/^\{"id":\d{10,16},/, '{')).toBe(item);
  const location = response.headers.get('Location');
  expect(location).toBe(`${publicBaseUrl}${path}/${response.body.id}`);
  expect((await request(location!)).text).toBe(response.text);
}

function nested(depth: number, inside = '0'): string {
  return '['.repeat(depth) + inside + ']'.repeat(depth);
}
