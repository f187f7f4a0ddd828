import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { agreeOnPetId, tokenOf } from '../../../shared/storage/intents.ts';
import { createPetOnce } from '../../../shared/storage/pets.ts';
import type { NewPet } from '../../../shared/contract/schemas.ts';
import { setEnvironment } from '../../support/environment.ts';
import { counted, occurrences } from '../../support/log-lines.ts';
import { mock } from '../../support/mocked-database.ts';
import { refused } from '../../support/refusals.ts';

const NOW_SECONDS = 1_790_000_000;
const rex = { name: 'Rex', categoryId: -(2n ** 63n) };
const conditionFailed = new ConditionalCheckFailedException({
  message: 'The conditional request failed',
  $metadata: {},
});
const lost = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const sha256 = expect.stringMatching(/^[\da-f]{64}$/);

setEnvironment({ PETS_TABLE: 'pets', INTENTS_TABLE: 'intents', LIST_PARTITIONS: '1' });

beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(NOW_SECONDS * 1_000 + 999);
});

/** What was sent to the database, one after the other. */
function sent(): Record<string, any>[] {
  return mock.calls().map(({ args }) => args[0].input as Record<string, any>);
}

/** The intent that a request for this pet puts. */
async function intentFor(newPet: NewPet): Promise<Record<string, unknown>> {
  mock.on(PutCommand).resolves({});
  await agreeOnPetId('token', newPet, 42n);
  const { Item } = sent().at(-1)!;
  mock.reset();
  return Item;
}

/** The table holds the intent of an earlier request for this pet. */
async function earlierIntent(newPet: NewPet): Promise<void> {
  const Item = await intentFor(newPet);
  mock.on(PutCommand, { TableName: 'intents' }).rejects(conditionFailed);
  mock.on(GetCommand, { TableName: 'intents' }).resolves({ Item });
}

describe('the token of a request', () => {
  test('is the same for the same API key, operation and Idempotency-Key', () => {
    expect(tokenOf('key_1', 'createPet', 'a')).toEqual(sha256);
    expect(tokenOf('key_1', 'createPet', 'a')).toBe(tokenOf('key_1', 'createPet', 'a'));
  });

  test.each([undefined, ''])('is not made without an API key', (keyId) => {
    expect(() => tokenOf(keyId, 'createPet', 'a')).toThrow('must have the id of an API key');
  });

  test('differs when any of them does, however they are put together', () => {
    const parts = fc.tuple(fc.string({ minLength: 1 }), fc.string(), fc.string());
    fc.assert(
      fc.property(parts, parts, (some, others) => {
        fc.pre(JSON.stringify(some) !== JSON.stringify(others));
        expect(tokenOf(...some)).not.toBe(tokenOf(...others));
      }),
      {
        examples: [
          [
            ['a', 'b', 'c,d'],
            ['a', 'b,c', 'd'],
          ],
          [
            ['ab', 'c', 'd'],
            ['a', 'bc', 'd'],
          ],
        ],
      },
    );
  });
});

describe('the first request with a token', () => {
  test('puts its intent, for a day, and stores the pet under its own id', async () => {
    mock.on(PutCommand).resolves({});
    expect(await agreeOnPetId('token', rex, 42n)).toBe(42n);
    expect(sent()).toEqual([
      {
        TableName: 'intents',
        Item: { token: 'token', fingerprint: sha256, petId: 42n, expiresAt: NOW_SECONDS + 86_400 },
        ConditionExpression: 'attribute_not_exists(petId) OR expiresAt < :now',
        ExpressionAttributeValues: { ':now': NOW_SECONDS },
      },
    ]);
  });

  test('keeps nothing of the pet but a hash', async () => {
    const { fingerprint, ...others } = await intentFor({ ...rex, status: 'sold' });
    expect(fingerprint).toEqual(sha256);
    expect(Object.keys(others)).toEqual(['token', 'petId', 'expiresAt']);
  });

  test('fails when its intent cannot be put', async () => {
    mock.on(PutCommand).rejects(lost);
    await expect(agreeOnPetId('token', rex, 42n)).rejects.toBe(lost);
    expect(sent()).toHaveLength(1);
  });
});

describe('a further request with a token', () => {
  test('stores the pet under the id of the first', async () => {
    await earlierIntent(rex);
    expect(await agreeOnPetId('token', rex, 43n)).toBe(42n);
    expect(sent().at(-1)).toEqual({ TableName: 'intents', Key: { token: 'token' }, ConsistentRead: true });
  });

  test.each<[string, NewPet]>([
    ['another name', { ...rex, name: 'rex' }],
    ['another name that looks the same', { ...rex, name: 'Re\u0078\u200b' }],
    ['another category', { ...rex, categoryId: rex.categoryId + 1n }],
    ['a status', { ...rex, status: 'available' }],
  ])('that asks for a pet with %s is refused', async (_what, other) => {
    await earlierIntent(rex);
    await expect(agreeOnPetId('token', other, 43n)).rejects.toEqual(
      refused('idempotency_key_reused', 'Idempotency-Key'),
    );
    await earlierIntent(other);
    await expect(agreeOnPetId('token', rex, 43n)).rejects.toEqual(refused('idempotency_key_reused'));
  });

  test('asks for the same pet whatever the order of its members', async () => {
    await earlierIntent({ name: 'Rex', categoryId: 1n, status: 'sold' });
    expect(await agreeOnPetId('token', { status: 'sold', categoryId: 1n, name: 'Rex' }, 43n)).toBe(42n);
  });

  test('may be repeated when the intent that was there a moment ago is gone', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    await expect(agreeOnPetId('token', rex, 43n)).rejects.toEqual(refused('service_unavailable'));
  });

  test('fails when the intent cannot be read', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).rejects(lost);
    await expect(agreeOnPetId('token', rex, 43n)).rejects.toBe(lost);
  });
});

describe('a request whose agreed id turned out to be taken', () => {
  test('replaces the intent as long as that is what is agreed on', async () => {
    mock.on(PutCommand).resolves({});
    expect(await agreeOnPetId('token', rex, 43n, 42n)).toBe(43n);
    expect(sent()).toMatchObject([
      {
        Item: { token: 'token', petId: 43n },
        ConditionExpression: 'attribute_not_exists(petId) OR expiresAt < :now OR petId = :taken',
        ExpressionAttributeValues: { ':now': NOW_SECONDS, ':taken': 42n },
      },
    ]);
  });

  test('goes along with what others agreed on meanwhile', async () => {
    await earlierIntent(rex);
    expect(await agreeOnPetId('token', rex, 44n, 41n)).toBe(42n);
  });
});

describe('creating a pet once', () => {
  const stored = { id: 42n, ...rex, creation: 'token', partition: '0' };

  test('puts the intent, then the pet that bears the token', async () => {
    mock.on(PutCommand).resolves({});
    expect(await createPetOnce(rex, 'token', () => 42n)).toEqual({ id: 42n, ...rex });
    expect(sent()).toEqual([
      expect.objectContaining({ TableName: 'intents' }),
      { TableName: 'pets', Item: stored, ConditionExpression: 'attribute_not_exists(id)' },
    ]);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
  });

  test('gives the pet that is there, and counts it no second time', async () => {
    await earlierIntent(rex);
    mock.on(PutCommand, { TableName: 'pets' }).rejects(conditionFailed);
    mock.on(GetCommand, { TableName: 'pets' }).resolves({ Item: stored });
    expect(await createPetOnce(rex, 'token', () => 43n)).toEqual({ id: 42n, ...rex });
    expect(occurrences()).toEqual([]);
  });

  test('makes the pet of which an earlier request left only the intent', async () => {
    await earlierIntent(rex);
    mock.on(PutCommand, { TableName: 'pets' }).resolves({});
    expect(await createPetOnce(rex, 'token', () => 43n)).toEqual({ id: 42n, ...rex });
    expect(sent().at(-1)).toMatchObject({ TableName: 'pets', Item: { id: 42n, creation: 'token' } });
    expect(occurrences()).toEqual([counted('PetsCreated')]);
  });

  test('agrees anew on an id when another pet has the first', async () => {
    mock.on(PutCommand, { TableName: 'intents' }).resolves({});
    mock.on(PutCommand, { TableName: 'pets' }).rejectsOnce(conditionFailed).resolves({});
    mock.on(GetCommand, { TableName: 'pets' }).resolves({ Item: { ...stored, creation: 'of another' } });
    const draws = [42n, 43n];
    expect(await createPetOnce(rex, 'token', () => draws.shift()!)).toEqual({ id: 43n, ...rex });
    const intents = sent().filter(({ TableName }) => TableName === 'intents');
    expect(
      intents.map(({ Item, ExpressionAttributeValues }) => [Item.petId, ExpressionAttributeValues]),
    ).toEqual([
      [42n, { ':now': NOW_SECONDS }],
      [43n, { ':now': NOW_SECONDS, ':taken': 42n }],
    ]);
  });

  test('writes no pet when another was asked for with the token', async () => {
    await earlierIntent(rex);
    await expect(createPetOnce({ ...rex, name: 'Ann' }, 'token', () => 43n)).rejects.toEqual(
      refused('idempotency_key_reused'),
    );
    expect(sent().map(({ TableName }) => TableName)).not.toContain('pets');
  });

  test('gives up when every id is taken, and says that it may be tried again', async () => {
    mock.on(PutCommand, { TableName: 'intents' }).resolves({});
    mock.on(PutCommand, { TableName: 'pets' }).rejects(conditionFailed);
    mock.on(GetCommand, { TableName: 'pets' }).resolves({ Item: { creation: 'of another' } });
    await expect(createPetOnce(rex, 'token')).rejects.toEqual(refused('service_unavailable'));
  });
});
