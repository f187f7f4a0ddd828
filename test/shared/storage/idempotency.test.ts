import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { claimId, tokenOf } from '../../../shared/storage/idempotency.ts';
import { books, type NewBook } from '../../support/books.ts';
import { signal } from '../../support/invoke.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../../support/mocked-database.ts';

const NOW_SECONDS = 1_790_000_000;
const sha256 = expect.stringMatching(/^[\da-f]{64}$/);

setEnvironment({ IDEMPOTENCY_TABLE: 'records' });

beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(NOW_SECONDS * 1_000 + 999);
});

test('requests with different operations, API keys or Idempotency-Keys have different tokens, even if the concatenations are equal', () => {
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

// Records outlive a deployment. If a later version calculated other tokens, a retry after its deployment would store a
// duplicate.
test('the token of a request never changes', () => {
  const token = '7a612e7e12b2c6dd8609b7d8f9ae7ff52c6de13081147c991f0d02a63b2627b4';
  expect(tokenOf('createBook', 'key_1', 'a-key')).toBe(token);
});

describe('an idempotency record', () => {
  const emma: NewBook = { title: 'Emma', shelf: 7n, genre: 'crime' };

  test.each<[string, NewBook, string]>([
    ['all', emma, '4NJ_bJyErSoOYKR4'],
    ['only required', { title: 'Emma', shelf: 7n }, ''],
  ])(
    'is stored for 24 hours and 10 minutes with hashes of a book with %s fields that later versions must also calculate',
    async (_which, book, genre) => {
      mock.on(PutCommand).resolves({});
      expect(await claimId(books, 'token', book, 42n, signal)).toBe(42n);
      const fields = { title: '25X5fj74hoMZVhWD', shelf: 'eQJpm-Qsio5G-7tF', genre };
      expect(inputs()).toStrictEqual([
        {
          TableName: 'records',
          Item: { token: 'token', fields, bookId: 42n, expiresAt: NOW_SECONDS + 87_000 },
          ConditionExpression: 'attribute_not_exists(#id) OR expiresAt < :now OR #id = :taken',
          ExpressionAttributeNames: { '#id': 'bookId' },
          ExpressionAttributeValues: { ':now': NOW_SECONDS, ':taken': 0n },
        },
      ]);
    },
  );

  test('identifies the same book if a retry sends the fields in a different order', async () => {
    mock.on(PutCommand).resolvesOnce({}).rejects(conditionFailed);
    mock.on(GetCommand).callsFake(() => ({ Item: inputs()[0].Item }));
    await claimId(books, 'token', emma, 42n, signal);
    const reversed = Object.fromEntries(Object.entries(emma).toReversed());
    expect(await claimId(books, 'token', reversed, 43n, signal)).toBe(42n);
  });

  test('causes an UnavailableError if it is deleted after the failed condition check', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    const error = { name: 'UnavailableError', message: 'The idempotency record was deleted.' };
    await expect(claimId(books, 'token', emma, 43n, signal)).rejects.toMatchObject(error);
  });
});
