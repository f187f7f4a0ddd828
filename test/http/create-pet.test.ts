import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import { expectError, expectSuccess, post, publicBaseUrl, request } from './client.ts';
import { addPet, petsNamed } from './lists.ts';

const rex = '{"name":"Rex","categoryId":7,"status":"available"}';
const BODY_LIMIT_BYTES = 65_536;

describe('POST /pets stores', () => {
  test('integers without rounding', async () => {
    // A double cannot represent these integers.
    await expectStored(rex.replace('7', '9223372036854775807'));
    await expectStored(rex.replace('7', '-9007199254740993'));
    await expectStored(rex.replace('7', '922337203685477580700e-2'), rex.replace('7', '9223372036854775807'));
  });

  test('a pet without a status', () => expectStored('{"name":"Rex","categoryId":7}'));

  test('names unchanged', async () => {
    for (const name of [
      '🐕'.repeat(255),
      '\\u0000\\r\\n\\tx',
      String.raw`<b>\"x\"</b> \\\" \\u0041`,
      // Combining and precomposed accents, noncharacters and a line separator.
      'e\u0301 é \ufffe \uffff \u2028',
    ])
      await expectStored(`{"name":"${name}","categoryId":7,"status":"pending"}`);
  });

  test('the fields of a pet, whatever else is in the body', async () => {
    for (const body of [
      rex.replace('{', '{"id":5,"__proto__":{"id":5},"list":"x",'),
      rex.replace('{', '{"name":null,'), // The last of repeated fields counts.
      rex.replace('}', `,"x":${'['.repeat(999)}0${']'.repeat(999)}}`),
      rex.padEnd(BODY_LIMIT_BYTES),
    ])
      await expectStored(body, rex);
  });

  test.each<Record<string, string>>([
    {},
    { 'Content-Type': 'Application/JSON', 'Content-Encoding': 'identity' },
    { 'Content-Type': 'application/json; charset="utf8"' },
    { 'Content-Type': 'application/vnd.api+json' },
  ])('a pet if the headers are %j', async (headers) => {
    expectSuccess(await request('/pets', { method: 'POST', headers, body: rex }), 201);
  });
});

test('POST /pets rejects what is no pet, and stores nothing of it', async () => {
  const first = await addPet();
  const name = randomUUID();
  const pet = JSON.stringify({ name, categoryId: 7, status: 'sold' });
  const json = { 'Content-Type': 'application/json' };
  const cases: [string, status: number, ErrorCode, string | Uint8Array, Record<string, string>?][] = [
    ['an empty body', 400, 'invalid_request', ''],
    ['an array', 400, 'invalid_request', `[${pet}]`],
    ['JSON in a string', 400, 'invalid_request', JSON.stringify(pet)],
    ['truncated JSON', 400, 'invalid_request', pet.slice(0, -1)],
    ['a form', 400, 'invalid_request', `name=${name}`],
    ['a pet in UTF-16', 400, 'invalid_request', Buffer.from(pet, 'utf16le')],
    ['a pet in Latin-1', 400, 'invalid_request', Buffer.from(pet.replace(name, `${name}ê`), 'latin1')],
    ['30,000 levels of nesting', 400, 'invalid_request', `${'['.repeat(30_000)}${pet}${']'.repeat(30_000)}`],
    ['a missing categoryId', 400, 'invalid_request', JSON.stringify({ name })],
    ['a string as the categoryId', 400, 'invalid_request', pet.replace(':7', ':"7"')],
    // The number of characters does not exceed the limit, but the number of bytes does.
    ['too many bytes', 413, 'request_too_large', pet.replace(name, `${name}ê`).padEnd(BODY_LIMIT_BYTES)],
    [
      'a form by its type',
      415,
      'unsupported_media_type',
      pet,
      { 'Content-Type': 'application/x-www-form-urlencoded' },
    ],
    [
      'Latin-1 by its type',
      415,
      'unsupported_media_type',
      pet,
      { 'Content-Type': 'application/json; charset=latin1' },
    ],
    // API Gateway itself rejects all content codings except identity, gzip and deflate.
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-make-request-with-compressed-payload.html
    ['gzip', 415, 'unsupported_media_type', gzipSync(pet), { ...json, 'Content-Encoding': 'gzip' }],
  ];
  for (const [what, status, code, body, headers] of cases) {
    const response = await post('/pets', body, headers);
    expectError({ ...response, sent: what }, status, code);
  }
  expect(await petsNamed(name, first)).toEqual([]);
});

/**
 * Sends `body`. Expects that the response is the `pet` with an id as its first field, and that the URL in `Location`
 * returns the same pet.
 */
async function expectStored(body: string, pet: string = body): Promise<void> {
  const response = await post('/pets', body);
  expectSuccess(response, 201);
  expect(response.text.replace(/^\{"id":\d{10,16},/, '{')).toBe(pet);
  const location = response.headers.get('Location')!;
  expect(location).toBe(`${publicBaseUrl}/pets/${response.body.id}`);
  expect((await request(location)).text).toBe(response.text);
}
