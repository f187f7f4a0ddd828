import { describe, expect, test } from '@jest/globals';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { pets } from '../collections/pets.ts';
import { expectError, expectSuccess, post, request } from '../support/client.ts';
import { addItem, itemsAddedAfter } from '../support/items.ts';

const first = await addItem(pets);
/** Name and category id in rejected bodies. The last test checks that no pet has either of them. */
const rejectedName = randomUUID();
const rejectedCategoryId = -randomInt(2 ** 47);
const rejected = JSON.stringify({ name: rejectedName, categoryId: rejectedCategoryId, status: 'available' });

describe('POST /pets', () => {
  test.each([
    ['only one letter', 'R'],
    ['255 emoji', '🐕'.repeat(255)],
    ['control characters', '\0\r\n\tx'],
    ['markup, quotes and backslashes', '<b>"x"</b> \\" \\u0041'],
    ['combining and precomposed accents', 'e\u0301 \u00e9'],
    ['noncharacters and line separators', '\ufffe \uffff \u2028 \u2029'],
    ['the text __proto__', '__proto__'],
  ])('stores a name that contains %s', async (_case, name) => {
    await expectStored(`{"name":${JSON.stringify(name)},"categoryId":7}`);
  });

  // `JSON.parse` would round some of these integers, because doubles cannot represent every integer beyond 2^53.
  test.each(['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775807'])(
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

  test('rejects an invalid UTF-8 byte, which API Gateway can replace with U+FFFD', async () => {
    const name = randomUUID();
    const response = await post('/pets', Buffer.from(`{"name":"${name}\u00ea","categoryId":7}`, 'latin1'));
    expectError(
      response,
      400,
      'invalid_request',
      'The body must be encoded in UTF-8, and must not contain the replacement character U+FFFD.',
    );
    const added = await itemsAddedAfter(pets, first);
    expect(added.filter((pet) => String(pet['name']).startsWith(name))).toEqual([]);
  });

  test('rejects a retry whose categoryId differs by less than a double can represent', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const created = await post('/pets', '{"name":"Rex","categoryId":9007199254740993}', headers);
    expectSuccess(created, 201);
    const second = await post('/pets', '{"name":"Rex","categoryId":9007199254740992}', headers);
    expectError(second, 422, 'idempotency_key_reused');
  });
});

describe('POST /pets with invalid input', () => {
  describe.each([
    [
      'name',
      'name must be a string of 1 to 255 characters that are not all white space or control characters, without U+FFFD and unpaired surrogates.',
      ['""', '" \\t\\u2003"', '"\\ud800"', '"x\\udc00"', '5', 'null', `"${'🐕'.repeat(256)}"`],
    ],
    [
      'categoryId',
      'categoryId must be an integer from -9223372036854775808 to 9223372036854775807, as a JSON number.',
      ['5.5', '9223372036854775808', '-9223372036854775809', '1e400', '"5"', 'null'],
    ],
    [
      'status',
      'status must be "available", "pending" or "sold", or omitted.',
      ['null', '""', '"lost"', '[]', '["sold"]', '"AVAILABLE"'],
    ],
  ])('rejects an invalid %s with the message "%s"', (field, message, values) => {
    test.each(values)('if it is %s', async (value) => {
      // If a body repeats a field, the last value applies, so only `value` makes this body invalid.
      const body = rejected.replace('}', `,"${field}":${value}}`);
      expectError(await post('/pets', body), 400, 'invalid_request', message);
    });
  });

  test.each([
    [`{"categoryId":${rejectedCategoryId}}`, /^name is required, and must be a string of [^;]+\.$/],
    [
      `{"name":"${rejectedName}"}`,
      /^categoryId is required, and must be an integer from -\d+ to \d+, as a JSON number\.$/,
    ],
    [
      `{"__proto__":${rejected}}`,
      /^name is required, and must be [^;]+; categoryId is required, and must be [^;]+\.$/,
    ],
    [
      '{"name":"","status":1}',
      /^name must be [^;]+; categoryId is required, and must be [^;]+; status must [^;]+$/,
    ],
  ])('rejects the body %s with a message about all errors', async (body, message) => {
    expectError(await post('/pets', body), 400, 'invalid_request', expect.stringMatching(message));
  });

  test('does not store any rejected pet', async () => {
    const stored = (await itemsAddedAfter(pets, first)).filter(
      ({ name, categoryId }) => name === rejectedName || categoryId === BigInt(rejectedCategoryId),
    );
    expect(stored).toEqual([]);
  });
});

/** Sends `body`. Expects that the response and a later get contain the `pet` with an id as its first field. */
async function expectStored(body: string, pet: string = body): Promise<void> {
  const response = await post('/pets', body);
  expectSuccess(response, 201);
  expect(response.text.replace(/^\{"id":\d{10,16},/, '{')).toBe(pet);
  expect((await request(`/pets/${response.body.id}`)).text).toBe(response.text);
}

/** Returns an ASCII character, or any other Unicode character except surrogates and U+FFFD. */
function randomCharacter(): string {
  const code = randomInt(2) === 0 ? randomInt(0x80) : randomInt(0x10_f800);
  const character = String.fromCodePoint(code < 0xd800 ? code : code + 0x800);
  return character === '\ufffd' ? 'x' : character;
}
