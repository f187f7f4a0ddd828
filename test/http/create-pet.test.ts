import { describe, expect, test } from '@jest/globals';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { baseUrl, expectError, expectSuccess, post, request } from '../support/client.ts';
import { addPet, petsAddedAfter } from '../support/pets.ts';

const REX = '{"name":"Rex","categoryId":7,"status":"available"}';
const BODY_LIMIT_BYTES = 65_536;

const first = await addPet();
/** Name and category id in rejected bodies. The last test checks that no pet has either of them. */
const rejectedName = randomUUID();
const rejectedCategoryId = -randomInt(2 ** 47);
const rejected = JSON.stringify({ name: rejectedName, categoryId: rejectedCategoryId, status: 'available' });

describe('POST /pets', () => {
  test.each([
    REX,
    '{"name":"Rex","categoryId":7,"status":"pending"}',
    '{"name":"Rex","categoryId":7,"status":"sold"}',
    '{"name":"Rex","categoryId":7}',
    '{"name":"R","categoryId":0}',
    '{"name":"Rex","categoryId":-1}',
    '{"name":"Rex","categoryId":-9223372036854775808}',
  ])('stores %s', (pet) => expectStored(pet));

  test.each([
    ['255 emoji', '🐕'.repeat(255)],
    ['control characters', '\0\r\n\tx'],
    ['markup, quotes and backslashes', '<b>"x"</b> \\" \\u0041'],
    ['combining and precomposed accents', 'e\u0301 \u00e9'],
    ['noncharacters and line separators', '\ufffe \uffff \u2028 \u2029'],
    ['the text __proto__', '__proto__'],
  ])('stores a name that contains %s', async (_case, name) => {
    await expectStored(`{"name":${JSON.stringify(name)},"categoryId":7}`);
  });

  // Doubles cannot represent these integers.
  test.each(['9007199254740993', '9223372036854775807', '-9223372036854775807'])(
    'stores the categoryId %s without rounding',
    (categoryId) => expectStored(`{"name":"Rex","categoryId":${categoryId}}`),
  );

  test.each([
    ['7.0', '7'],
    ['7E0', '7'],
    ['0.7e1', '7'],
    ['-0', '0'],
    ['9007199254740993.00', '9007199254740993'],
    ['922337203685477580700e-2', '9223372036854775807'],
  ])('stores the categoryId %s as the integer %s', async (sent, stored) => {
    await expectStored(`{"name":"Rex","categoryId":${sent}}`, `{"name":"Rex","categoryId":${stored}}`);
  });

  test('stores random names and integers unchanged', async () => {
    for (let run = 0; run < 50; run += 1) {
      const name = `x${Array.from({ length: randomInt(255) }, randomCharacter).join('')}`;
      const categoryId = randomBytes(8).readBigInt64BE();
      await expectStored(`{"name":${JSON.stringify(name)},"categoryId":${categoryId}}`);
    }
  });

  test.each(['"id":5', '"partition":"1"', '"creation":"x"', '"__proto__":{"id":5}'])(
    'does not store the unknown field %s',
    async (field) => {
      await expectStored(REX.replace('{', `{${field},`), REX);
    },
  );

  test.each([
    ['repeated fields', REX.replace('{', '{"name":"","categoryId":5.5,')],
    ['1,000 levels', REX.replace('}', `,"x":${nested(999)}}`)],
    ['64 KiB', REX.padEnd(BODY_LIMIT_BYTES)],
  ])('accepts a body with %s', async (_case, body) => {
    await expectStored(body, REX);
  });

  test.each<Record<string, string>>([
    {},
    { 'Content-Type': 'Application/JSON', 'Content-Encoding': 'identity' },
    { 'Content-Type': 'application/json; charset="utf8"' },
    { 'Content-Type': 'application/vnd.api+json' },
  ])('accepts a body with the headers %j', async (headers) => {
    expectSuccess(await request('/pets', { method: 'POST', headers, body: REX }), 201);
  });

  // Accepts 400 and 201, because API Gateway can replace an invalid byte with U+FFFD before it invokes the function.
  test('rejects an invalid UTF-8 byte or stores U+FFFD instead', async () => {
    const name = randomUUID();
    const response = await post(Buffer.from(REX.replace('Rex', `${name}\u00ea`), 'latin1'));
    expect([201, 400]).toContain(response.status);
    const stored = (await petsAddedAfter(first)).filter((pet) => pet.name.startsWith(name));
    const expected = { ...response.body, name: `${name}\ufffd` };
    expect(stored).toEqual(response.status === 201 ? [expected] : []);
  });
});

describe('POST /pets with invalid input', () => {
  describe.each([
    [
      'name',
      'name must be a string of 1 to 255 well-formed Unicode characters, not all of them white space.',
      ['""', '" \\t\\u2003"', '"\\ud800"', '"x\\udc00"', '5', 'null', `"${'🐕'.repeat(256)}"`],
    ],
    [
      'categoryId',
      'categoryId must be an integer from -9223372036854775808 to 9223372036854775807.',
      ['5.5', '9223372036854775808', '-9223372036854775809', '1e400', '"5"', 'null'],
    ],
    [
      'status',
      'status must be one of available, pending, sold.',
      ['null', '""', '"lost"', '[]', '["sold"]', '"AVAILABLE"'],
    ],
  ])('rejects an invalid %s with the message "%s"', (field, message, values) => {
    test.each(values)('%s', async (value) => {
      // If a body repeats a field, the last value applies.
      const body = rejected.replace('}', `,"${field}":${value}}`);
      expectError(await post(body), 400, 'invalid_request', message);
    });
  });

  test.each([
    [`{"categoryId":${rejectedCategoryId}}`, /^name is required\.$/],
    [`{"name":"${rejectedName}"}`, /^categoryId is required\.$/],
    [`{"__proto__":${rejected}}`, /^name is required; categoryId is required\.$/],
    ['{"name":"","status":1}', /^name must be .*; categoryId is required; status must .*$/],
    ['{"x":"",\r\n"🐕":0,}', /^The body is not valid JSON at line 2, column 8\.$/],
  ])('rejects %j with a message about all errors', async (body, message) => {
    expectError(await post(body), 400, 'invalid_request', expect.stringMatching(message));
  });

  test.each([
    ['that is empty', ''],
    ['that is an array', `[${rejected}]`],
    ['that is not JSON', rejected.slice(0, -1)],
    ['that is form-encoded', `name=${rejectedName}&categoryId=7`],
    ['in UTF-16', Buffer.from(rejected, 'utf16le')],
    ['that is nested too deeply', nested(30_000, rejected)],
  ])('returns a 400 for a body %s', async (_case, body) => {
    expectError(await post(body), 400, 'invalid_request', expect.not.stringContaining(rejectedName));
  });

  test('returns a 413 for a body of more than 64 KiB', async () => {
    // The number of characters does not exceed the limit, but the number of bytes does.
    const body = rejected.replace('available', 'availabl\u00e9').padEnd(BODY_LIMIT_BYTES);
    expectError(await post(body), 413, 'request_too_large', 'The body must not exceed 65536 bytes.');
  });

  test.each<[string, Record<string, string>, (string | Uint8Array)?]>([
    ['application/json', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['application/json', { 'Content-Type': 'image/svg+json' }],
    ['charset', { 'Content-Type': 'application/json; charset=iso-8859-1' }],
    // Tests gzip, because API Gateway itself rejects all content codings except identity, gzip and deflate.
    ['Content-Encoding', { 'Content-Encoding': 'gzip' }, gzipSync(rejected)],
  ])('returns a 415 that mentions %s for the headers %j', async (word, headers, body = rejected) => {
    expectError(await post(body, headers), 415, 'unsupported_media_type', expect.stringContaining(word));
  });

  test('does not store any rejected pet', async () => {
    const stored = (await petsAddedAfter(first)).filter(
      (pet) => pet.name.includes(rejectedName) || pet.categoryId === BigInt(rejectedCategoryId),
    );
    expect(stored).toEqual([]);
  });
});

/**
 * Sends `body`. Expects that the response is the `pet` with an id as its first field, and that the URL in `Location`
 * returns the same pet.
 */
async function expectStored(body: string, pet: string = body): Promise<void> {
  const response = await post(body);
  expectSuccess(response, 201);
  expect(response.text.replace(/^\{"id":\d{10,16},/, '{')).toBe(pet);
  const location = response.headers.get('Location');
  expect(location).toBe(`${baseUrl}/pets/${response.body.id}`);
  expect((await request(location!)).text).toBe(response.text);
}

function nested(depth: number, inside = '0'): string {
  return '['.repeat(depth) + inside + ']'.repeat(depth);
}

/** Returns an ASCII character, or any other Unicode character except a surrogate. */
function randomCharacter(): string {
  const code = randomInt(2) === 0 ? randomInt(0x80) : randomInt(0x10_f800);
  return String.fromCodePoint(code < 0xd800 ? code : code + 0x800);
}
