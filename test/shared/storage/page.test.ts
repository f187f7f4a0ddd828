import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import type { ListQuery } from '../../../shared/contract/lists.ts';
import { readPage } from '../../../shared/storage/page.ts';
import { books } from '../../support/books.ts';
import { signal } from '../../support/invoke.ts';
import { inputs, mock, setEnvironment } from '../../support/mocked-database.ts';

setEnvironment({ BOOKS_TABLE: 'books' });

const emma = { title: 'Emma', shelf: 7n };
const stored = (id: bigint) => ({ id, ...emma, creation: 'request', list: 'all' });
const listed = (id: bigint) => ({ id, ...emma });

describe('readPage', () => {
  test.each<[string, ListQuery & Record<string, unknown>, object]>([
    [
      'all books',
      { limit: 2 },
      {
        IndexName: 'newest',
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': 'list' },
        ExpressionAttributeValues: { ':key': 'all' },
      },
    ],
    [
      'a later page with one filter',
      { limit: 2, genre: 'crime', cursor: 42n },
      {
        IndexName: 'newest-by-genre',
        KeyConditionExpression: '#key = :key AND id < :cursor',
        ExpressionAttributeNames: { '#key': 'genre' },
        ExpressionAttributeValues: { ':key': 'crime', ':cursor': 42n },
      },
    ],
    [
      'a filter by an integer',
      { limit: 2, shelf: 7n },
      {
        IndexName: 'newest-by-shelf',
        ExpressionAttributeNames: { '#key': 'shelf' },
        ExpressionAttributeValues: { ':key': 7n },
      },
    ],
    [
      'a combination of filters',
      { limit: 2, shelf: 7n, genre: 'crime' },
      {
        IndexName: 'newest-by-genre-and-shelf',
        ExpressionAttributeNames: { '#key': 'genre-and-shelf' },
        ExpressionAttributeValues: { ':key': 'crime#7' },
      },
    ],
  ])('reads %s in one query for one item more than the page has', async (_which, query, input) => {
    mock.on(QueryCommand).resolves({ Items: [stored(9n), stored(7n), stored(5n)] });
    expect(await readPage(books, query, signal)).toStrictEqual({ items: [listed(9n), listed(7n)], next: 7n });
    expect(inputs()).toMatchObject([{ TableName: 'books', ...input, ScanIndexForward: false, Limit: 3 }]);
  });

  test('returns no next page if there are no more items', async () => {
    for (const ids of [[], [9n], [9n, 7n]]) {
      mock.on(QueryCommand).resolves({ Items: ids.map(stored) });
      const page = await readPage(books, { limit: 2 }, signal);
      expect(page).toStrictEqual({ items: ids.map(listed), next: undefined });
    }
  });

  test('returns a next page if DynamoDB ends a page early because of its size', async () => {
    mock.on(QueryCommand).resolves({ Items: [stored(9n)], LastEvaluatedKey: { id: 9n, list: 'all' } });
    expect(await readPage(books, { limit: 2 }, signal)).toStrictEqual({ items: [listed(9n)], next: 9n });
  });
});
