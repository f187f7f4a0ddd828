import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { encodeCursor } from '../../../shared/contract/cursor.ts';
import { listQuery, nextPage } from '../../../shared/contract/lists.ts';
import { books } from '../../support/books.ts';

const BooksQuery = listQuery(books);

function problems(query: object): [string | undefined, string][] {
  const { issues = [] } = v.safeParse(BooksQuery, query);
  return issues.map((issue) => [v.getDotPath(issue) ?? undefined, issue.message]);
}

test.each<[string, string, object, string]>([
  ['with a filter', 'without filters', { genre: 'crime' }, encodeCursor('books', 42n, {})],
  ['without filters', 'with a filter', {}, encodeCursor('books', 42n, { genre: 'crime' })],
  ['of books', 'of films', {}, encodeCursor('films', 42n, {})],
])('a list %s rejects the cursor of a list %s', (_list, _other, query, cursor) => {
  expect(problems({ ...query, cursor })).toEqual([
    ['cursor', 'must be unchanged from the Link header of a page of this list with the same filters'],
  ]);
});

test('a list accepts a cursor that was created for the same filters', () => {
  const filters = { genre: 'crime', shelf: 7n };
  const query = { genre: 'crime', shelf: '7', cursor: encodeCursor('books', 42n, filters) };
  expect(v.parse(BooksQuery, query)).toEqual({ limit: 20, filters, cursor: 42n });
  expect(v.parse(BooksQuery, { genre: 'crime' })).not.toHaveProperty('cursor');
});

test('exactly the limits from 1 to 100 are accepted', () => {
  const limits = Array.from({ length: 1_003 }, (_, index) => index - 2);
  const accepted = limits.filter((limit) => v.is(BooksQuery, { limit: `${limit}` }));
  expect(accepted).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});

test.each<[string, unknown[]]>([
  ['limit', ['+5', '5.0', '05', '5\n', ' 5', '1e1', '']],
  ['genre', ['Crime', 'crime,poetry', '']],
  ['cursor', ['', '?', 'a b', 'MA==', 'a\n', 'a'.repeat(65), 5]],
])('an invalid %s is rejected', (name, values) => {
  expect(values.filter((value) => v.is(BooksQuery, { [name]: value }))).toEqual([]);
});

test('the address of the next page repeats the limit and filters of the list', () => {
  const filters = { genre: 'crime', shelf: 7n };
  const address = nextPage(books, { limit: 5, filters }, 42n);
  expect(address).toMatch(/^\/v1\/books\?limit=5&genre=crime&shelf=7&cursor=[\w-]+$/);
  const query = Object.fromEntries(new URLSearchParams(address.split('?')[1]));
  expect(v.parse(BooksQuery, query)).toEqual({ limit: 5, filters, cursor: 42n });
});

test('filters that form no supported combination are rejected with a list of the supported combinations', () => {
  const message = 'must be part of a supported combination of filters (genre; genre and shelf)';
  expect(problems({ shelf: '7' })).toEqual([['shelf', message]]);
});
