import { describe, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import { isDeployed, type Answer, postPet, request } from '../support/client.ts';
import { expectError, expectSuccess } from '../support/expectations.ts';
import { addPet, petsAddedAfter, uniqueName } from '../support/pets.ts';

const MAX_BODY_BYTES = 64 * 1024;
/** By these a pet that should have been refused is found in the list, whichever of its members was wrong. */
const marker = uniqueName();
const markedCategory = -randomInt(2 ** 47);

describe('The body of POST /v1/pets', () => {
  const refused: [what: string, code: ErrorCode, ask: () => Promise<Answer>][] = [
    ['nothing', 'invalid_request', sending('')],
    ['white space', 'invalid_request', sending(' \n')],
    ['null', 'invalid_request', sending('null')],
    ['a string', 'invalid_request', sending(`"${marker}"`)],
    ['a number', 'invalid_request', sending('5')],
    ['an array', 'invalid_request', sending(`[${pet()}]`)],
    ['an empty array', 'invalid_request', sending('[]')],
    ['text', 'invalid_request', sending(marker)],
    ['JSON cut short', 'invalid_request', sending(pet().slice(0, -1))],
    ['two objects', 'invalid_request', sending(`${pet()}${pet()}`)],
    ['a comma too many', 'invalid_request', sending(pet(','))],
    ['a comment', 'invalid_request', sending(pet('/* */'))],
    ['a leading zero', 'invalid_request', sending(pet(',"x":01'))],
    ['NaN', 'invalid_request', sending(pet(',"x":NaN'))],
    ['a line break in a string', 'invalid_request', sending(pet(',"x":"\n"'))],
    ['single quotes', 'invalid_request', sending(pet().replaceAll('"', "'"))],
    ['a form', 'invalid_request', sending(`name=${marker}&categoryId=1`)],
    ['UTF-16', 'invalid_request', sending(Buffer.from(pet(), 'utf16le'))],
    ['arrays nested 10,000 deep', 'invalid_request', sending(pet(`,"x":${nested('[', ']', 10_000)}`))],
    ['arrays nested 32,000 deep', 'invalid_request', sending(pet(`,"x":${nested('[', ']', 32_000)}`))],
    ['objects nested 10,000 deep', 'invalid_request', sending(pet(`,"x":${nested('{"":', '}', 10_000)}`))],
    ['a pet inside 30,000 arrays', 'invalid_request', sending(nested('[', ']', 30_000, pet()))],
    ['65,000 brackets that never close', 'invalid_request', sending('['.repeat(65_000))],
    ['without a name', 'invalid_request', sending(`{"categoryId":${markedCategory}}`)],
    ['with a blank name', 'invalid_request', sending(`{"name":" ","categoryId":${markedCategory}}`)],
    [
      'with a lone surrogate',
      'invalid_request',
      sending(String.raw`{"name":"\ud800","categoryId":${markedCategory}}`),
    ],
    ['with a long name', 'invalid_request', sending(`{"name":"${marker.repeat(7)}","categoryId":1}`)],
    ['without a categoryId', 'invalid_request', sending(`{"name":"${marker}"}`)],
    ['with a fraction', 'invalid_request', sending(`{"name":"${marker}","categoryId":5.5}`)],
    ['with a status that is null', 'invalid_request', sending(pet(',"status":null'))],
    ['with an unknown status', 'invalid_request', sending(pet(',"status":"lost"'))],
    ['65,537 bytes', 'request_too_large', sending(pet().padEnd(MAX_BODY_BYTES + 1))],
    [
      '65,537 bytes in fewer characters',
      'request_too_large',
      sending(pet(`,"x":"${'é'.repeat(MAX_BODY_BYTES / 2)}"`)),
    ],
  ];
  // What API Gateway itself says to these is not documented to be ours to choose.
  if (!isDeployed) {
    refused.push(
      ['7 MB', 'request_too_large', sending(pet().padEnd(7_000_000))],
      ['11 MB', 'request_too_large', sending(pet().padEnd(11_000_000))],
    );
  }
  const otherMediaTypes = [
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'application/xml',
    'application/jsonp',
    'application/json-seq',
    'application/+json',
    'application/x json',
    'image/svg+json',
    'json',
  ];
  for (const mediaType of otherMediaTypes) {
    refused.push([mediaType, 'unsupported_media_type', sending(pet(), mediaType)]);
  }

  describe('is refused, with the Error body, when it is', () => {
    test.each(refused)('%s: %s', async (_what, code, ask) => {
      expectError(await ask(), code);
    });

    test('none at all', async () => {
      expectError(await request('/pets', { method: 'POST' }), 'invalid_request');
    });

    test('any of these, and nothing of it is kept', async () => {
      const first = await addPet();
      for (const [, , ask] of refused) await ask();
      const kept = (await petsAddedAfter(first)).filter(
        ({ name, categoryId }) => name.includes(marker) || categoryId === BigInt(markedCategory),
      );
      expect(kept).toEqual([]);
    });
  });

  describe('is taken', () => {
    test.each([
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json ;charset=UTF-8',
      'application/vnd.petstore+json',
      'application/merge-patch+json; charset=utf-8',
    ])('as %s', async (mediaType) => {
      expectSuccess(await sending('{"name":"Rex","categoryId":1}', mediaType)(), 201);
    });

    test('without a media type', async () => {
      const body = '{"name":"Rex","categoryId":1}';
      expectSuccess(await request('/pets', { method: 'POST', body }), 201);
    });

    test('with 65,536 bytes', async () => {
      const body = '{"name":"Rex","categoryId":1}'.padEnd(MAX_BODY_BYTES);
      expectSuccess(await postPet(body), 201);
    });

    test('with white space around it', async () => {
      expectSuccess(await postPet('\r\n\t {"name" : "Rex",\n"categoryId" : 1 } \n'), 201);
    });

    test('with what it ignores nested 100 deep', async () => {
      expectSuccess(await postPet(`{"name":"Rex","categoryId":1,"x":${nested('[', ']', 100)}}`), 201);
    });

    test('with the last of several values of one member', async () => {
      const { body } = await postPet('{"name":"","name":"Rex","categoryId":5.5,"categoryId":1}');
      expect(body).toEqual({ id: expect.any(BigInt), name: 'Rex', categoryId: 1n });
    });
  });

  test.each([
    ['a byte that is never in UTF-8', [0xff]],
    ['a character cut short', [0xe2, 0x82]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['an overlong NUL', [0xc0, 0x80]],
  ])('with %s in it is no fault of the service', async (_case, bytes) => {
    const name = Buffer.concat([Buffer.from('Rex '), Buffer.from(bytes)]);
    const body = Buffer.concat([Buffer.from('{"name":"'), name, Buffer.from('","categoryId":1}')]);
    // API Gateway may put replacement characters there before any of our code sees it.
    expect([201, 400]).toContain((await postPet(body)).status);
  });
});

function pet(more = ''): string {
  return `{"name":"${marker}","categoryId":1${more}}`;
}

function nested(open: string, close: string, depth: number, inside = '0'): string {
  return open.repeat(depth) + inside + close.repeat(depth);
}

function sending(body: string | Uint8Array, mediaType = 'application/json'): () => Promise<Answer> {
  return async () => postPet(body, { 'Content-Type': mediaType });
}
