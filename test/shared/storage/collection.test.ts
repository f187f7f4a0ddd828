import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { create, get } from '../../../shared/storage/collection.ts';
import { books, type NewBook } from '../../support/books.ts';
import { signal } from '../../support/invoke.ts';
import { counted, occurrences } from '../../support/log-lines.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../../support/mocked-database.ts';

setEnvironment({ BOOKS_TABLE: 'books', IDEMPOTENCY_TABLE: 'records' });

const emma: NewBook = { title: 'Emma', shelf: 7n };

describe('create', () => {
  test.each<[string, NewBook, Record<string, string>]>([
    ['only required', emma, { list: 'all' }],
    ['all', { ...emma, genre: 'crime' }, { list: 'all', 'genre-and-shelf': 'crime#7' }],
  ])(
    'writes a book with %s fields and the keys of its indexes in one call',
    async (_which, newBook, keys) => {
      mock.on(PutCommand).resolves({});
      const book = await create(books, newBook, signal);
      expect(book).toEqual({ id: expect.any(BigInt), ...newBook });
      expect(occurrences()).toEqual([counted('BooksCreated')]);
      const creation = expect.stringMatching(/^\S{20,}$/);
      expect(inputs()).toStrictEqual([
        {
          TableName: 'books',
          Item: { ...book, ...keys, creation },
          ConditionExpression: 'attribute_not_exists(id)',
        },
      ]);
    },
  );

  // If `create` treated this error as a failed condition, the log would show only that the item or the record is missing.
  test.each(['records', 'books'])('throws the error of a write to the table %s', async (TableName) => {
    const denied = Object.assign(new Error('?'), { name: 'AccessDeniedException' });
    mock.on(PutCommand).resolves({}).on(PutCommand, { TableName }).rejects(denied);
    mock.on(GetCommand).resolves({});
    await expect(create(books, emma, signal, { token: 'token', fingerprint: 'body' })).rejects.toBe(denied);
    expect(occurrences()).toEqual([]);
  });

  test('throws an UnavailableError after the first attempt if the id is taken but its book is missing', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    const message = 'An item of books was deleted during the call.';
    const error = { name: 'UnavailableError', message };
    await expect(create(books, emma, signal)).rejects.toMatchObject(error);
    expect(inputs()).toHaveLength(2);
  });

  test('throws an UnavailableError if other requests have taken 20 generated ids', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({ Item: { ...emma, creation: 'another request' } });
    const error = { name: 'UnavailableError', message: 'The service could not assign an id.' };
    await expect(create(books, emma, signal)).rejects.toMatchObject(error);
    expect(mock.commandCalls(PutCommand)).toHaveLength(20);
  });
});

test('get uses a strongly consistent read and returns no storage attributes', async () => {
  const book = { id: 42n, ...emma, creation: 'request', list: 'all' };
  mock
    .on(GetCommand)
    .resolvesOnce({ Item: book })
    .resolvesOnce({ Item: { ...book, genre: 'crime', 'genre-and-shelf': 'crime#7' } });
  expect(await get(books, 42n, signal)).toStrictEqual({ id: 42n, ...emma });
  expect(await get(books, 42n, signal)).toStrictEqual({ id: 42n, ...emma, genre: 'crime' });
  const input = { TableName: 'books', Key: { id: 42n }, ConsistentRead: true };
  expect(inputs()[0]).toEqual(input);
});
