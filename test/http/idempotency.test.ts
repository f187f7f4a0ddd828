import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { stringifyJson } from '../../shared/contract/json.ts';
import { collectionTests } from '../collections/all.ts';
import { type ApiResponse, expectError, expectSuccess, post, request } from '../support/client.ts';
import { variantOf } from '../support/collection-tests.ts';
import { addItem, itemsWith } from '../support/items.ts';

/** Returns the parts of a response that must be equal for a request and its retries. */
function reproducible({ status, text, headers }: ApiResponse): unknown {
  return { status, text, location: headers.get('Location') };
}

describe.each(Object.values(collectionTests))('POST $path with an Idempotency-Key', (collection) => {
  const { path, newItem, variants } = collection;
  const item = newItem('a text');

  function postWith(key: string, body: unknown): Promise<ApiResponse> {
    return post(path, body, { 'Idempotency-Key': key });
  }

  test('creates one item for a request and its retries', async () => {
    const before = await addItem(collection);
    const text = randomUUID();
    const key = randomUUID();
    const body = newItem(text);
    const first = await postWith(key, body);
    expectSuccess(first, 201);
    expect(first.body).toEqual({ id: expect.any(BigInt), ...body });
    const retries = [
      await postWith(key, body),
      await postWith(`"${key}"`, body),
      await post(path, body, { 'idempotency-key': key }),
    ];
    expect(retries.map(reproducible)).toEqual(retries.map(() => reproducible(first)));
    expect(await itemsWith(text, collection, before)).toEqual([first.body]);
  });

  test('creates one item for concurrent requests', async () => {
    const before = await addItem(collection);
    const text = randomUUID();
    const key = randomUUID();
    const responses = await Promise.all(Array.from({ length: 10 }, () => postWith(key, newItem(text))));
    expectSuccess(responses[0]!, 201);
    expect(responses.map(reproducible)).toEqual(responses.map(() => reproducible(responses[0]!)));
    expect(await itemsWith(text, collection, before)).toEqual([responses[0]!.body]);
  });

  const others = [newItem('another text'), ...variants.map((fields) => variantOf(item, fields))];
  // The last body is the same item, but not the same bytes.
  const bodies = [...others.map((other) => stringifyJson(other)), ` ${stringifyJson(item)}`];
  test.each(bodies)('rejects a request with the same key and the different body %p', async (other) => {
    const key = randomUUID();
    const first = await postWith(key, item);
    expectError(await postWith(key, other), 422, 'idempotency_key_reused');
    expect(reproducible(await postWith(key, item))).toEqual(reproducible(first));
    expect((await request(`${path}/${first.body.id}`)).body).toEqual(first.body);
  });

  test('accepts a key whose first request was rejected', async () => {
    const key = randomUUID();
    expectError(await postWith(key, collection.invalid.item), 400, 'invalid_request');
    expectSuccess(await postWith(key, item), 201);
  });

  test('treats escaped characters in a quoted key as the characters themselves', async () => {
    const key = randomUUID();
    const first = await postWith(`${key}\\"`, item);
    expectSuccess(first, 201);
    expect(reproducible(await postWith(`"${key}\\\\\\""`, item))).toEqual(reproducible(first));
  });

  test.each([`${randomUUID()}${'x'.repeat(219)}`, `"two words, ${randomUUID()}"`])(
    'accepts the key %s',
    async (key) => expectSuccess(await postWith(key, item), 201),
  );

  test.each(['', '""', 'two words', '"a"b', '"\\a"', 'x'.repeat(256), 'caf\u00e9'])(
    'rejects the key %p',
    async (key) => {
      const before = await addItem(collection);
      const text = randomUUID();
      const message =
        'Idempotency-Key must be a single value of 1 to 255 visible ASCII characters, or such characters and spaces in ' +
        'double quotes (a key without quotes must not start with a double quote).';
      expectError(await postWith(key, newItem(text)), 400, 'invalid_request', message);
      expect(await itemsWith(text, collection, before)).toEqual([]);
    },
  );
});

test('a client can use the same Idempotency-Key for one item in each collection', async () => {
  const headers = { 'Idempotency-Key': randomUUID() };
  for (const { path, newItem } of Object.values(collectionTests))
    expectSuccess(await post(path, newItem('a text'), headers), 201);
});
