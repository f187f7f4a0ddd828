import { describe, expect, test } from '@jest/globals';
import { randomInt, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { MAX_BODY_BYTES, MAX_NAME_CHARACTERS } from '../../shared/contract/limits.ts';
import { baseUrl, expectError, expectSuccess, post, request } from '../support/client.ts';
import { addItem, itemsAddedAfter } from '../support/resources.ts';
import { bodyWith, integerField, itemsPath, textField, validInput } from '../support/sample.ts';
import { variants } from '../support/variants.ts';

const first = await addItem();
const valid = stringifyJson(validInput);
/** Unique text in rejected bodies. The last test checks that no stored item contains this text or `markedInteger`. */
const marker = randomUUID();
const markedInteger = -randomInt(2 ** 47);
const markedBody = { ...bodyWith(marker), [integerField]: markedInteger };
const marked = JSON.stringify(markedBody);

describe('the create operation', () => {
  test.each(variants)('stores the input %p', (input) => expectStored(input));

  test.each([
    ['the maximum number of emoji', '🐕'.repeat(MAX_NAME_CHARACTERS)],
    ['control characters', '\0\r\n\t'.padEnd(5, 'x')],
    ['markup, quotes and backslashes', '<b>"x"</b> \\" \\u0041'],
    ['combining and precomposed accents', 'e\u0301 \u00e9'],
    ['noncharacters and line separators', '\ufffe \uffff \u2028 \u2029'],
  ])('stores a text that contains %s', async (_case, text) => {
    await expectStored({ ...validInput, [textField]: text });
  });

  test.each(['9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    'stores the integer %s without rounding',
    async (text) => {
      await expectStored({ ...validInput, [integerField]: BigInt(text) }, replaced(integerField, text));
    },
  );

  test.each(['"id":5', '"partition":"1"', '"__proto__":{"id":5}'])(
    'does not store the unknown field %s',
    async (field) => {
      await expectStored(validInput, valid.replace('{', `{${field},`));
    },
  );

  test.each([
    ['repeated fields', valid.replace('{', `{"${textField}":"","${integerField}":5.5,`)],
    ['1,000 levels', valid.replace('}', `,"x":${nested(999)}}`)],
    ['the maximum size', valid.padEnd(MAX_BODY_BYTES)],
  ])('accepts a body with %s', async (_case, body) => {
    await expectStored(validInput, body);
  });

  test.each<Record<string, string>>([
    {},
    { 'Content-Type': 'Application/JSON', 'Content-Encoding': 'identity' },
    { 'Content-Type': 'application/json; charset="utf8"' },
    { 'Content-Type': 'application/vnd.api+json' },
  ])('accepts a body with the headers %j', async (headers) => {
    expectSuccess(await request(itemsPath, { method: 'POST', headers, body: valid }), 201);
  });

  // Accepts 400 and 201, because API Gateway can replace an invalid byte with U+FFFD before it invokes the function.
  test('rejects an invalid UTF-8 byte or stores U+FFFD instead', async () => {
    const text = randomUUID();
    const response = await post(Buffer.from(JSON.stringify(bodyWith(`${text}\u00ea`)), 'latin1'));
    expect([201, 400]).toContain(response.status);
    const stored = (await itemsAddedAfter(first)).filter((item) => item[textField].startsWith(text));
    const expected = { ...response.body, [textField]: `${text}\ufffd` };
    expect(stored).toEqual(response.status === 201 ? [expected] : []);
  });
});

describe('the create operation with invalid input', () => {
  describe.each([
    [
      textField,
      ['""', '" \\t\\u2003"', '"\\ud800"', '5', 'null', `"${'🐕'.repeat(MAX_NAME_CHARACTERS + 1)}"`],
    ],
    [integerField, ['5.5', '9223372036854775808', '-9223372036854775809', '1e400', '"5"', 'null']],
    ['status', ['null', '""', '"nonsense"', '[]', `"${validInput.status!.toUpperCase()}"`]],
  ])('rejects an invalid %s with a message about the field', (field, values) => {
    test.each(values)('%s', async (value) => {
      const message = expect.stringMatching(new RegExp(`^${field} must be [^;]+\\.$`));
      expectError(await post(replaced(field, value, marked)), 'invalid_request', message);
    });
  });

  test.each([
    [{ ...markedBody, [textField]: undefined }, `^${textField} is required\\.$`],
    [`{"__proto__":${marked}}`, `^${textField} is required; ${integerField} is required\\.$`],
    [
      { [textField]: '', status: 1 },
      `^${textField} must be .*; ${integerField} is required; status must .*$`,
    ],
    ['{"x":"",\r\n"🐕":0,}', '^The body is not valid JSON at line 2, column 8\\.$'],
  ])('rejects %j with a message about all errors', async (body, message) => {
    expectError(await post(body), 'invalid_request', expect.stringMatching(new RegExp(message)));
  });

  test.each<[string, ErrorCode, string | Uint8Array]>([
    ['that is empty', 'invalid_request', ''],
    ['that is an array', 'invalid_request', `[${marked}]`],
    ['that is not JSON', 'invalid_request', marked.slice(0, -1)],
    ['that is form-encoded', 'invalid_request', new URLSearchParams({ [textField]: marker }).toString()],
    ['in UTF-16', 'invalid_request', Buffer.from(marked, 'utf16le')],
    ['that is nested too deeply', 'invalid_request', nested(30_000, marked)],
    ['that exceeds 64 KiB', 'request_too_large', marked.replace(marker, '$&\u00e9').padEnd(MAX_BODY_BYTES)],
  ])('rejects a body %s (%s)', async (_case, code, body) => {
    expectError(await post(body), code, expect.not.stringContaining(marker));
  });

  test.each<[string, Record<string, string>, (string | Uint8Array)?]>([
    ['application/json', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['application/json', { 'Content-Type': 'image/svg+json' }],
    ['charset', { 'Content-Type': 'application/json; charset=iso-8859-1' }],
    // Tests gzip, because API Gateway itself rejects all content codings except identity, gzip and deflate.
    ['Content-Encoding', { 'Content-Encoding': 'gzip' }, gzipSync(marked)],
  ])('returns a 415 that mentions %s if a body has the headers %j', async (word, headers, body = marked) => {
    expectError(await post(body, headers), 'unsupported_media_type', expect.stringContaining(word));
  });

  test('does not store any rejected item', async () => {
    const stored = (await itemsAddedAfter(first)).filter(
      (item) => item[textField].includes(marker) || item[integerField] === BigInt(markedInteger),
    );
    expect(stored).toEqual([]);
  });
});

/** Sends `body`. Expects that the response contains only an id and `input`, and equals the body at its `Location`. */
async function expectStored(input: object, body: unknown = input): Promise<void> {
  const response = await post(body);
  expectSuccess(response, 201);
  expect(response.text).toBe(stringifyJson({ id: response.body.id, ...input }));
  expect(response.body.id).not.toBe(5n);
  const location = response.headers.get('Location');
  expect(location).toBe(`${baseUrl}${itemsPath}/${response.body.id}`);
  expect((await request(location!)).text).toBe(response.text);
}

/** Appends a field with the JSON `value`. If `body` already has the field, the service uses the last value. */
function replaced(field: string, value: string, body = valid): string {
  return body.replace('}', `,"${field}":${value}}`);
}

function nested(depth: number, inside = '0'): string {
  return '['.repeat(depth) + inside + ']'.repeat(depth);
}
