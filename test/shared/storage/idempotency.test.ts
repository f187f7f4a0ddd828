import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { NewPet } from '../../../shared/contract/pets.ts';
import { claimId, tokenOf } from '../../../shared/storage/idempotency.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../../support/mocked-database.ts';

const NOW_SECONDS = 1_790_000_000;
const sha256 = expect.stringMatching(/^[\da-f]{64}$/);

setEnvironment({ IDEMPOTENCY_TABLE: 'records' });

beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(NOW_SECONDS * 1_000 + 999);
});

test('tokenOf returns different tokens for different values even if their concatenations are equal', () => {
  const scopes: Parameters<typeof tokenOf>[] = [
    ['a', 'b', 'c,d'],
    ['a', 'b,c', 'd'],
    ['a,b', 'c', 'd'],
    ['ab', 'c', 'd'],
    ['a', 'bc', 'd'],
    ['a', 'bc', 'D'],
  ];
  const tokens = scopes.map((scope) => tokenOf(...scope));
  expect(tokens).toEqual(scopes.map(() => sha256));
  expect(new Set(tokens).size).toBe(tokens.length);
});

// Records outlive a deployment. If a version calculated other hashes, a retry after its deployment would store a duplicate.
test('tokenOf returns the same token in all versions', () => {
  const token = 'd744a8a89e9201765152741d6fd17a66626b9f8bd42a61e996143afa66270f64';
  expect(tokenOf('createPet', 'key_1', 'a-key')).toBe(token);
});

describe('an idempotency record', () => {
  const rex: NewPet = { name: 'Rex', categoryId: 7n, status: 'available' };

  test('is stored for a day with the same hash of the pet in all versions', async () => {
    mock.on(PutCommand).resolves({});
    const fingerprint = 'fe381d8b22a9e05931be3c554d3244e036583fe9d4ba7c810b30d168c0f09fbe';
    expect(await claimId('petId', 'token', rex, 42n)).toBe(42n);
    expect(inputs()).toEqual([
      {
        TableName: 'records',
        Item: { token: 'token', fingerprint, petId: 42n, expiresAt: NOW_SECONDS + 86_400 },
        ConditionExpression: 'attribute_not_exists(#id) OR expiresAt < :now OR #id = :taken',
        ExpressionAttributeNames: { '#id': 'petId' },
        ExpressionAttributeValues: { ':now': NOW_SECONDS, ':taken': 0n },
      },
    ]);
  });

  test('identifies the same pet if a retry sends the fields in a different order', async () => {
    mock.on(PutCommand).resolvesOnce({}).rejects(conditionFailed);
    mock.on(GetCommand).callsFake(() => ({ Item: inputs()[0].Item }));
    await claimId('petId', 'token', rex, 42n);
    const reversed = Object.fromEntries(Object.entries(rex).toReversed());
    expect(await claimId('petId', 'token', reversed, 43n)).toBe(42n);
  });

  test('causes an UnavailableError if it is deleted after the failed condition check', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    const error = { name: 'UnavailableError', message: 'The idempotency record was deleted.' };
    await expect(claimId('petId', 'token', rex, 43n)).rejects.toMatchObject(error);
  });
});
