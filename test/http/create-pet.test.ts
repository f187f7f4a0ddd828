import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { type NewPet, type Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { baseUrl, expectError, expectSuccess, postPet, request } from '../support/client.ts';
import { addPet, addPets, petsAddedAfter, uniqueName } from '../support/pets.ts';

const MAX_BODY_BYTES = 65_536;
const REX = '{"name":"Rex","categoryId":1}';
const rex: NewPet = { name: 'Rex', categoryId: 1n };

/** Name and category of all invalid pets. The last test checks that the list does not contain these pets. */
const marker = uniqueName();
const markedCategory = -randomInt(2 ** 47);
const marked = `{"name":"${marker}","categoryId":${markedCategory}}`;

describe('POST /v1/pets', () => {
  test.each(PetStatus.options)('stores the status %s', async (status) => {
    await expectStored(JSON.stringify({ name: 'Rex', categoryId: 1, status }), { ...rex, status });
  });

  test.each([
    ['only one character', 'x'],
    ['255 emoji', '🐕'.repeat(255)],
    ['leading and trailing spaces', '  Rex  '],
    ['control characters', '\0\r\n\t'.padEnd(5, 'x')],
    ['quotes and backslashes', '"Rex" \\" \\u0041'],
    ['a combining accent', 'e\u0301'],
    ['a precomposed accent', '\u00e9'],
    ['right-to-left text and joined emoji', 'كلب 👩‍👩‍👧‍👦'],
    ['noncharacters and line separators', '\ufffe \uffff \u2028 \u2029'],
    ['markup', '<script>alert(1)</script>'],
    ['a number as text', '1'],
  ])('stores a name that contains %s', async (_case, name) => {
    await expectStored(JSON.stringify({ name, categoryId: 1 }), { ...rex, name });
  });

  test.each([
    ['-0', 0n],
    ['5.0', 5n],
    ['50E-1', 5n],
    ['9007199254740993', 2n ** 53n + 1n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
  ])('stores the categoryId %s as the integer %s', async (text, categoryId) => {
    await expectStored(`{"name":"Rex","categoryId":${text}}`, { ...rex, categoryId });
  });

  test.each([
    '"id":5',
    '"creation":"mine"',
    '"partition":"1"',
    '"statusPartition":"sold#0"',
    '"color":1e400',
    '"":null',
    '"__proto__":{"status":"sold"}',
    '"Status":"nonsense"',
  ])('does not store the unknown field %s', async (field) => {
    await expectStored(`{${field},"name":"Rex","categoryId":1}`, rex);
  });

  test.each([
    ['white space between tokens', '\r\n\t {"name" : "Rex",\n"categoryId" : 1 } \n'],
    ['escape sequences', String.raw`{"n\u0061me":"\u0052ex","categoryId":1}`],
    ['repeated fields', '{"name":"","name":"Rex","categoryId":5.5,"categoryId":1}'],
    ['an unknown field of 100 levels', REX.replace('}', `,"x":${nested('[', ']', 100)}}`)],
    ['a size of 64 KiB', REX.padEnd(MAX_BODY_BYTES)],
  ])('accepts a body with %s', async (_case, body) => {
    await expectStored(body, rex);
  });

  test.each<Record<string, string>>([
    {},
    { 'Content-Type': 'application/json' },
    { 'Content-Type': 'Application/JSON', 'Content-Encoding': 'identity' },
    { 'Content-Type': 'application/json ;charset=UTF-8' },
    { 'Content-Type': 'application/json; charset="utf8"' },
    { 'Content-Type': 'application/vnd.petstore+json' },
  ])('accepts a body with the headers %j', async (headers) => {
    expectSuccess(await request('/pets', { method: 'POST', headers, body: REX }), 201);
  });

  test('accepts a trailing slash', async () => {
    const response = await request('/pets/', { method: 'POST', body: REX });
    expectSuccess(response, 201);
    expect(response.headers.get('Location')).toBe(`${baseUrl}/pets/${response.body.id}`);
  });

  test('assigns unique ids that increase over time', async () => {
    const ids = (await addPets(5)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const { id } = await addPet();
    expect(ids.filter((earlier) => earlier >= id)).toEqual([]);
    expect(id).toBeLessThanOrEqual(BigInt(Number.MAX_SAFE_INTEGER));
  });

  // The function cannot always reject the byte, because API Gateway can replace it with U+FFFD.
  test('does not store an invalid UTF-8 byte unchanged', async () => {
    const [first, name] = [await addPet(), uniqueName()];
    const response = await postPet(Buffer.from(REX.replace('Rex', `${name}\u00ea`), 'latin1'));
    expect([201, 400]).toContain(response.status);
    const stored = (await petsAddedAfter(first)).filter((pet) => pet.name.startsWith(name));
    expect(stored).toEqual(response.status === 201 ? [{ ...response.body, name: `${name}\ufffd` }] : []);
  });
});

describe('POST /v1/pets with invalid input', () => {
  let first: Pet;

  beforeAll(async () => {
    first = await addPet();
  });

  describe.each([
    ['name', ['""', '" \\t\\u2003"', String.raw`"\ud800"`, '5', 'null', `"${'🐕'.repeat(256)}"`]],
    ['categoryId', ['5.5', '9223372036854775808', '-9223372036854775809', '1e400', '"5"', 'null']],
    ['status', ['null', '""', '"nonsense"', '"Available"', '["sold"]']],
  ])('rejects an invalid %s with a message about the field', (field, values) => {
    test.each(values)('%s', async (value) => {
      // The service uses the last value of a repeated field, so this value replaces the valid one.
      const body = marked.replace('}', `,"${field}":${value}}`);
      const message = expect.stringMatching(new RegExp(`^${field} must be [^;]+\\.$`));
      expectError(await postPet(body), 'invalid_request', message);
    });
  });

  test.each([
    [`{"categoryId":${markedCategory}}`, /^name is required\.$/],
    [`{"name":"${marker}"}`, /^categoryId is required\.$/],
    [`{"__proto__":${marked}}`, /^name is required; categoryId is required\.$/],
    ['{"name":"","status":1}', /^name must be [^;]+; categoryId is required; status must be [^;]+\.$/],
    ['{"name":"Rex",\r\n"🐕":0,}', /^The body is not valid JSON at line 2, column 8\.$/],
  ])('rejects %j with a message about all errors', async (body, message) => {
    expectError(await postPet(body), 'invalid_request', expect.stringMatching(message));
  });

  test.each<[string, ErrorCode, string | Uint8Array]>([
    ['that is empty', 'invalid_request', ''],
    ['that is null', 'invalid_request', 'null'],
    ['that is an array', 'invalid_request', `[${marked}]`],
    ['that is not JSON', 'invalid_request', marked.slice(0, -1)],
    ['of two objects', 'invalid_request', marked + marked],
    ['that is form-encoded', 'invalid_request', `name=${marker}&categoryId=1`],
    ['in UTF-16', 'invalid_request', Buffer.from(marked, 'utf16le')],
    ['that is nested too deeply', 'invalid_request', nested('[', ']', 30_000, marked)],
    ['with a field that is nested too deeply', 'invalid_request', `{"x":${nested('{"":', '}', 10_000)}}`],
    ['of more than 64 KiB', 'request_too_large', marked.padEnd(MAX_BODY_BYTES + 1)],
    ['of 64 Ki characters', 'request_too_large', marked.replace('Rex', '\u00e9').padEnd(MAX_BODY_BYTES)],
  ])('rejects a body %s (%s)', async (_case, code, body) => {
    expectError(await postPet(body), code, expect.not.stringContaining(marker));
  });

  describe.each([
    ['application/json', ['text/plain', 'text/json', 'application/x-www-form-urlencoded', 'json']],
    ['application/json', ['application/jsonp', 'application/+json', 'application/x json', 'image/svg+json']],
    ['charset', ['application/json; charset=iso-8859-1', 'application/json;charset=utf-8; Charset="latin1"']],
  ])('rejects an unsupported Content-Type with a message about %s', (part, mediaTypes) => {
    test.each(mediaTypes)('%s', async (mediaType) => {
      const message = expect.stringContaining(part);
      expectError(await postPet(marked, { 'Content-Type': mediaType }), 'unsupported_media_type', message);
    });
  });

  // API Gateway rejects other content codings itself, so only these content codings reach the function.
  test.each([
    ['gzip', gzipSync(marked)],
    ['deflate', deflateSync(marked)],
  ])('rejects the content coding %s', async (coding, body) => {
    const message = expect.stringContaining('Content-Encoding');
    expectError(await postPet(body, { 'Content-Encoding': coding }), 'unsupported_media_type', message);
  });

  test('rejects a request without a body', async () => {
    expectError(await request('/pets', { method: 'POST' }), 'invalid_request');
  });

  test('does not store any rejected pet', async () => {
    const stored = (await petsAddedAfter(first)).filter(
      ({ name, categoryId }) => name.includes(marker) || categoryId === BigInt(markedCategory),
    );
    expect(stored).toEqual([]);
  });
});

/** Creates a pet and expects exactly `pet` in the response and at the URL in `Location`. */
async function expectStored(body: string, pet: NewPet): Promise<void> {
  const response = await postPet(body);
  expectSuccess(response, 201);
  expect(response.text).toBe(stringifyJson({ id: response.body.id, ...pet }));
  expect(response.body.id).not.toBe(5n);
  const location = response.headers.get('Location');
  expect(location).toBe(`${baseUrl}/pets/${response.body.id}`);
  expect((await request(location!)).text).toBe(response.text);
}

function nested(open: string, close: string, depth: number, inside = '0'): string {
  return open.repeat(depth) + inside + close.repeat(depth);
}
