import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { create, get } from '../../../shared/storage/collection.ts';
import { books, type NewBook } from '../../support/books.ts';
import { oneEpoch } from '../../support/list-epochs.ts';
import { signal } from '../../support/invoke.ts';
import { counted, occurrences } from '../../support/log-lines.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../../support/mocked-database.ts';

setEnvironment({ BOOKS_TABLE: 'books', IDEMPOTENCY_TABLE: 'records', LIST_PARTITIONS: oneEpoch(4) });

const emma: NewBook = { title: 'Emma', shelf: 7n };

describe('create', () => {
  test.each<[string, NewBook, Record<string, string>]>([
    ['only required', emma, { partition: '2' }],
    [
      'all',
      { ...emma, genre: 'crime' },
      { partition: '2', genrePartition: 'crime#2', 'genre-shelfPartition': 'crime#7#2' },
    ],
  ])(
    'writes a book with %s fields and the keys of its indexes in one call',
    async (_which, newBook, keys) => {
      mock.on(PutCommand).resolves({});
      const book = { id: 42n, ...newBook };
      expect(await create(books, newBook, signal, undefined, () => 42n)).toEqual(book);
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

  // The time in the id is that of the first attempt, so retries after the start of an epoch write the same keys.
  test.each([
    [129171455999999n, 'the last id of 2025, in an epoch with 1 list partition', '0'],
    [129171456000003n, 'an early id of 2026, in an epoch with 4 list partitions', '3'],
    [258342911999999n, 'the last id of 2026', '3'],
    [258342912000000n, 'the first id of 2027, in an epoch with 7 list partitions', '2'],
  ])('writes a book with the id %d, %s, to list partition %s', async (id, _when, partition) => {
    process.env['LIST_PARTITIONS'] = JSON.stringify([
      { since: '2025-01-01T00:00:00Z', count: 1 },
      { since: '2026-01-01T00:00:00Z', count: 4 },
      { since: '2027-01-01T00:00:00Z', count: 7 },
    ]);
    mock.on(PutCommand).resolves({});
    await create(books, emma, signal, undefined, () => id);
    expect(inputs()).toMatchObject([{ Item: { id, partition } }]);
  });

  test.each([
    ['book', 'bookId'],
    ['comic book', 'comicBookId'],
  ])('writes the id of a %s to the attribute %s of the idempotency record', async (singular, attribute) => {
    mock.on(PutCommand).resolves({});
    await create({ ...books, singular }, emma, signal, 'token', () => 42n);
    expect(inputs()).toMatchObject([
      { TableName: 'records', Item: { token: 'token', [attribute]: 42n } },
      { TableName: 'books', Item: { id: 42n, creation: 'token' } },
    ]);
  });

  // If `create` treated this error as a failed condition, the log would show only that the item or the record is missing.
  test.each(['records', 'books'])('throws the error of a write to the table %s', async (TableName) => {
    const denied = Object.assign(new Error('?'), { name: 'AccessDeniedException' });
    mock.on(PutCommand).resolves({}).on(PutCommand, { TableName }).rejects(denied);
    mock.on(GetCommand).resolves({});
    await expect(create(books, emma, signal, 'token')).rejects.toBe(denied);
    expect(occurrences()).toEqual([]);
  });

  test('throws an UnavailableError after the first attempt if the id is taken but its book is missing', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolves({});
    const error = { name: 'UnavailableError', message: 'The book 42 is missing.' };
    await expect(create(books, emma, signal, undefined, () => 42n)).rejects.toMatchObject(error);
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
  const book = { id: 42n, ...emma, creation: 'request', partition: '0' };
  mock
    .on(GetCommand)
    .resolvesOnce({ Item: book })
    .resolvesOnce({ Item: { ...book, genre: 'crime', genrePartition: 'crime#0' } });
  expect(await get(books, 42n, signal)).toStrictEqual({ id: 42n, ...emma });
  expect(await get(books, 42n, signal)).toStrictEqual({ id: 42n, ...emma, genre: 'crime' });
  const input = { TableName: 'books', Key: { id: 42n }, ConsistentRead: true };
  expect(inputs()[0]).toEqual(input);
});
