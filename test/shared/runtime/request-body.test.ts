import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { operations } from '../../../shared/contract/operations.ts';
import { parseRequest } from '../../../shared/runtime/request.ts';
import { apiGatewayEvent, postPetEvent } from '../../support/api-gateway-event.ts';
import { refused } from '../../support/refusals.ts';

const REX = '{"name":"Rex","categoryId":7}';
const MAX_BODY_BYTES = 65_536;

function bodyOf(event: APIGatewayProxyEvent): unknown {
  return parseRequest(operations.createPet, event).body;
}

/** White space and a new pet that have this many bytes together. */
function bodyOfBytes(bytes: number, pet = REX): string {
  return `${' '.repeat(bytes - Buffer.byteLength(pet))}${pet}`;
}

describe('the body', () => {
  test.each([
    ['none', null],
    ['no Content-Type', { Accept: 'application/json' }],
    ['application/json', { 'Content-Type': 'application/json' }],
    ['parameters', { 'Content-Type': 'application/json; charset=utf-8' }],
    ['white space around', { 'Content-Type': ' application/json ;charset=utf-8' }],
    ['a +json suffix', { 'Content-Type': 'application/vnd.pets.v1+json' }],
    ['a type in other case', { 'Content-Type': 'Application/JSON' }],
    ['a header in lower case', { 'content-type': 'application/json' }],
    ['a header in upper case', { 'CONTENT-TYPE': 'application/x+json' }],
  ])('is read with headers: %s', (_what, headers) => {
    expect(bodyOf(postPetEvent(REX, { headers }))).toEqual({ name: 'Rex', categoryId: 7n });
  });

  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json-seq',
    'application/+json',
    'application/xml; a=application/json',
    'notapplication/json',
    'application/a b+json',
  ])('is not looked at when it is sent as %s', (contentType) => {
    const event = postPetEvent('{', { headers: { 'content-type': contentType } });
    expect(() => bodyOf(event)).toThrow(refused('unsupported_media_type', 'application/json'));
  });

  test('may have 64 KiB', () => {
    const event = postPetEvent(bodyOfBytes(MAX_BODY_BYTES));
    expect(bodyOf(event)).toEqual({ name: 'Rex', categoryId: 7n });
  });

  test.each([
    ['one byte more', bodyOfBytes(MAX_BODY_BYTES + 1), false],
    ['fewer characters but more bytes', bodyOfBytes(MAX_BODY_BYTES + 1, '{"name":"\u20ac"}'), false],
    ['one byte more in base64', Buffer.from(bodyOfBytes(MAX_BODY_BYTES + 1)).toString('base64'), true],
  ])('may not have %s', (_what, body, isBase64Encoded) => {
    expect(() => bodyOf(postPetEvent(body, { isBase64Encoded }))).toThrow(
      refused('request_too_large', '65536'),
    );
  });

  test('is refused in base64 when its bytes are not UTF-8, which storing would alter', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"name":"R'),
      Buffer.from([0xff]),
      Buffer.from('x","categoryId":7}'),
    ]);
    const event = postPetEvent(bytes.toString('base64'), { isBase64Encoded: true });
    expect(() => bodyOf(event)).toThrow(refused('invalid_request', 'UTF-8'));
  });

  test('is decoded from base64, whose longer text does not count against it', () => {
    const body = bodyOfBytes(MAX_BODY_BYTES, '{"name":"R\u00eax \u20ac","categoryId":7}');
    const event = postPetEvent(Buffer.from(body).toString('base64'), { isBase64Encoded: true });
    expect(bodyOf(event)).toEqual({ name: 'R\u00eax \u20ac', categoryId: 7n });
  });

  test.each([
    ['null', null],
    ['empty', ''],
    ['the word null', 'null'],
    ['an array', `[${REX}]`],
    ['an empty array', '[]'],
    ['a string', '"Rex"'],
    ['a number', '5'],
  ])('is refused when it is %s', (_what, body) => {
    expect(() => bodyOf(apiGatewayEvent({ body }))).toThrow(refused('invalid_request', 'JSON object'));
  });

  test.each([
    '{',
    ' ',
    '{"name":"Rex",}',
    "{'name':'Rex'}",
    '{"name":"Rex","categoryId":05}',
    `${REX}${REX}`,
  ])('is refused when it is %j, which is not JSON', (body) => {
    expect(() => bodyOf(postPetEvent(body))).toThrow(refused('invalid_request', 'not valid JSON'));
  });

  test.each([
    ['arrays', `{"name":${'['.repeat(32_000)}${']'.repeat(32_000)}}`],
    ['objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ])('is refused when it nests %s too deeply', (_what, body) => {
    expect(() => bodyOf(postPetEvent(body))).toThrow(refused('invalid_request', 'nested'));
  });

  test.each([
    ['{}', ['name is required', 'categoryId is required']],
    ['{"name":"Rex"}', ['categoryId is required']],
    ['{"name":" ","categoryId":"7","status":null}', ['name must be', 'categoryId must be', 'status must be']],
    ['{"name":"\\ud800","categoryId":7}', ['name must be']],
    ['{"name":"Rex","categoryId":5.5}', ['categoryId must be']],
    ['{"name":"Rex","categoryId":1e400}', ['categoryId must be']],
    ['{"name":"Rex","categoryId":9223372036854775808}', ['categoryId must be']],
  ])('%s is refused with a message that says: %p', (body, words) => {
    expect(() => bodyOf(postPetEvent(body))).toThrow(refused('invalid_request', ...words));
  });

  test('does not complain of a field that is right', () => {
    expect(() => bodyOf(postPetEvent('{"name":"Rex","categoryId":[]}'))).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/name|status|undefined|body\./) }),
    );
  });
});
