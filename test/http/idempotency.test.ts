import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type ApiResponse, expectError, expectSuccess, post, request } from '../support/client.ts';
import { addItem, itemsWith } from '../support/resources.ts';
import { bodyWith, itemsPath, textField, validBody, validInput } from '../support/sample.ts';
import { variants } from '../support/variants.ts';

function postWith(key: string, body: unknown): Promise<ApiResponse> {
  return post(body, { 'Idempotency-Key': key });
}

/**
 * Returns JSON that the service must treat like `body`. The fields are in reverse order, the letters are escaped, `7.0`
 * replaces `7`, and an unknown field is added.
 */
function rewritten(body: object): string {
  const entries = Object.entries({ ...body, unknown: 'x' }).toReversed();
  return JSON.stringify(Object.fromEntries(entries), null, 1)
    .replaceAll(/: \d+/g, '$&.0')
    .replaceAll(/[a-z]/g, (letter) => `\\u00${letter.codePointAt(0)!.toString(16)}`);
}

/** Returns the fields of a response that must be equal for a request and its retries. */
function reproducible({ status, text, headers }: ApiResponse): unknown {
  return { status, text, location: headers.get('Location') };
}

describe('the create operation with an idempotency key', () => {
  test('creates one item for a request and its retries', async () => {
    const before = await addItem();
    const text = randomUUID();
    const key = randomUUID();
    const body = bodyWith(text);
    const first = await postWith(key, body);
    expectSuccess(first, 201);
    expect(first.body).toEqual({ id: expect.any(BigInt), ...validInput, [textField]: text });
    const retries = [
      await postWith(key, body),
      await postWith(`"${key}"`, body),
      await post(body, { 'idempotency-key': key }),
      await postWith(key, rewritten(body)),
    ];
    expect(retries.map(reproducible)).toEqual(retries.map(() => reproducible(first)));
    expect(await itemsWith(text, before)).toEqual([first.body]);
  });

  test('creates one item for concurrent requests', async () => {
    const before = await addItem();
    const text = randomUUID();
    const key = randomUUID();
    const responses = await Promise.all(Array.from({ length: 10 }, () => postWith(key, bodyWith(text))));
    expectSuccess(responses[0]!, 201);
    expect(responses.map(reproducible)).toEqual(responses.map(() => reproducible(responses[0]!)));
    expect(await itemsWith(text, before)).toEqual([responses[0]!.body]);
  });

  test.each([
    bodyWith('a different text'),
    ...variants.filter((variant) => !isDeepStrictEqual(variant, validInput)),
  ])('rejects a second request with a different body (%p)', async (body) => {
    const key = randomUUID();
    const first = await postWith(key, validBody);
    expectError(await postWith(key, body), 'idempotency_key_reused');
    expect(reproducible(await postWith(key, validBody))).toEqual(reproducible(first));
    expect((await request(`${itemsPath}/${first.body.id}`)).body).toEqual(first.body);
  });

  test('accepts a key whose first request was rejected', async () => {
    const key = randomUUID();
    expectError(await postWith(key, {}), 'invalid_request');
    expectSuccess(await postWith(key, validBody), 201);
  });

  test.each(['""', 'caf\u00e9'])('rejects the key %s', async (key) => {
    const before = await addItem();
    const text = randomUUID();
    const rule = 'Idempotency-Key must be a single value of 1 to 255 visible ASCII characters';
    const message = expect.stringMatching(`^${rule}`);
    expectError(await postWith(key, bodyWith(text)), 'invalid_request', message);
    expect(await itemsWith(text, before)).toEqual([]);
  });
});
