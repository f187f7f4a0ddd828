import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { claimId, tokenOf } from '../../../shared/storage/idempotency.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../../support/mocked-database.ts';
import { validPet } from '../../support/sample.ts';

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

describe('an idempotency record', () => {
  test('is stored for a day with a hash of the fields in alphabetical order', async () => {
    mock.on(PutCommand).resolves({});
    // Records outlive a deployment, so all versions must calculate the same hash.
    const names = Object.keys(validPet).toSorted() as (keyof typeof validPet)[];
    const fingerprint = hash('sha256', stringifyJson(names.map((name) => [name, validPet[name]])));
    expect(await claimId('petId', 'token', validPet, 42n)).toBe(42n);
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
    await claimId('petId', 'token', validPet, 42n);
    const reversed = Object.fromEntries(Object.entries(validPet).toReversed()) as typeof validPet;
    expect(await claimId('petId', 'token', reversed, 43n)).toBe(42n);
  });

  test('causes an UnavailableError if it is deleted after the failed condition check', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    const error = { name: 'UnavailableError', message: 'The idempotency record was deleted.' };
    await expect(claimId('petId', 'token', validPet, 43n)).rejects.toMatchObject(error);
  });
});
