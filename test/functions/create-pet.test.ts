import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/create-pet.ts';
import { postPetEvent, STAGE_DOMAIN } from '../support/api-gateway-event.ts';
import { type ApiResponse, invoke } from '../support/invoke.ts';
import { counted, countedInternalError, logLines, occurrences } from '../support/log-lines.ts';
import { conditionFailed, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({ PETS_TABLE: 'pets', INTENTS_TABLE: 'intents', LIST_PARTITIONS: '1' });

function written(): Record<string, unknown>[] {
  return mock.commandCalls(PutCommand).map(({ args }) => args[0].input.Item ?? {});
}

describe('POST /v1/pets', () => {
  test('returns 201 with the stored pet and its URL', async () => {
    mock.on(PutCommand).resolves({});
    const event = postPetEvent(
      '{"id":1,"name":"Rex","categoryId":-9223372036854775808,"status":"sold","color":"red"}',
    );
    const { status, headers, body } = await invoke(handler, event);
    const [{ id } = {}] = written();
    expect(status).toBe(201);
    expect(body).toEqual({ id, name: 'Rex', categoryId: -(2n ** 63n), status: 'sold' });
    expect(headers).toHaveProperty('Location', `https://${STAGE_DOMAIN}/staging/v1/pets/${String(id)}`);
    expect(written()).toEqual([
      { ...body, partition: '0', statusPartition: 'sold#0', creation: expect.any(String) },
    ]);
    expect(id).toBeGreaterThan(1n);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
    expect(logLines()).toEqual([]);
  });
});

describe('POST /v1/pets with an Idempotency-Key', () => {
  const rex = '{"name":"Rex","categoryId":7}';

  beforeEach(() => {
    const items = new Map<unknown, Record<string, any>>();
    mock.on(PutCommand).callsFake(({ Item, ExpressionAttributeValues: values }) => {
      const key = Item.id ?? Item.token;
      const stored = items.get(key);
      // An idempotency record can be overwritten if its id is taken.
      if (stored && stored['petId'] !== (values?.[':taken'] ?? false)) throw conditionFailed;
      items.set(key, Item);
      return {};
    });
    mock.on(GetCommand).callsFake(({ Key }) => ({ Item: items.get(Key.id ?? Key.token) }));
  });

  function post(
    values: string[],
    { name = 'Idempotency-Key', body = rex, keyId = 'key_1' } = {},
  ): Promise<ApiResponse> {
    const requestContext = { authorizer: { keyId } };
    return invoke(handler, postPetEvent(body, { multiValueHeaders: { [name]: values }, requestContext }));
  }

  test('returns the same pet for each retry and counts the pet only once', async () => {
    const first = await post(['a']);
    expect(first.status).toBe(201);
    expect(await post(['a'])).toEqual(first);
    expect(await post(['a'], { body: ' {"categoryId":7.0,"colour":"red","name":"R\\u0065x"} ' })).toEqual(
      first,
    );
    expect(occurrences()).toEqual([counted('PetsCreated')]);
  });

  test.each([
    ['quotes', '"a"', 'a'],
    ['escapes', String.raw`"\\\"a\""`, String.raw`\"a"`],
  ])('treats a key with and without %s as the same key', async (_what, quoted, bare) => {
    expect(await post([bare])).toEqual(await post([quoted]));
  });

  test.each([
    ['a different value', ['b'], 'key_1'],
    ['a value in a different case', ['A'], 'key_1'],
    ['the same value and a different API key', ['a'], 'key_2'],
  ])('adds a second pet for %s', async (_what, values, keyId) => {
    const [first, other] = [await post(['a']), await post(values, { keyId })];
    expect(other.status).toBe(201);
    expect(other.body.id).not.toBe(first.body.id);
    expect(occurrences()).toEqual([counted('PetsCreated'), counted('PetsCreated')]);
  });

  test('returns and counts a 422 for a different pet', async () => {
    await post(['a']);
    const { status, body: error } = await post(['a'], { body: '{"name":"Ann","categoryId":7}' });
    expect(status).toBe(422);
    expect(error).toEqual({ code: 'idempotency_key_reused', message: expect.any(String), status: 422n });
    expect(occurrences()).toEqual([
      counted('PetsCreated'),
      counted('ErrorResponses', { code: 'idempotency_key_reused' }),
    ]);
  });

  test.each([
    ['empty', ['""']],
    ['repeated', ['a', 'a']],
  ])('returns 400 and names the header if its value is %s', async (_what, values) => {
    const { status, body } = await post(values);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(
        /^Idempotency-Key must be a single value of 1 to 255 visible ASCII characters/,
      ),
    });
    expect(mock.calls()).toEqual([]);
    expect(occurrences()).toEqual([counted('ErrorResponses', { code: 'invalid_request' })]);
  });

  test('returns 500 without a write if the key id is missing', async () => {
    const { status } = await post(['a'], { keyId: '' });
    expect(status).toBe(500);
    expect(mock.calls()).toEqual([]);
    expect(occurrences()).toEqual(countedInternalError('createPet'));
  });

  test('lists the errors of the header and the body in one message', async () => {
    const { body } = await post([''], { body: '{"name":"Rex"}' });
    expect(body.message).toMatch(/^Idempotency-Key must be .*; categoryId is required\.$/);
  });

  test('ignores a header with a similar name', async () => {
    await invoke(handler, postPetEvent(rex, { headers: { 'X-Idempotency-Key': 'a' } }));
    expect(written()).toEqual([expect.objectContaining({ name: 'Rex' })]);
  });
});
