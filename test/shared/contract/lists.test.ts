import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { encodeCursor, listIndexes, listQuery, nextPage } from '../../../shared/contract/lists.ts';
import { books } from '../../support/books.ts';

const BooksQuery = listQuery(books);

describe('a cursor', () => {
  const id = fc.bigInt({ min: 1n, max: 2n ** 53n - 1n });

  test('is a position in every list, and needs no encoding in URLs', () => {
    fc.assert(
      fc.property(id, (last) => {
        const cursor = encodeCursor(last);
        expect(cursor).toMatch(/^[\w-]{11}$/);
        expect(v.parse(BooksQuery, { cursor })).toHaveProperty('cursor', last);
        expect(v.parse(BooksQuery, { cursor, genre: 'crime' })).toHaveProperty('cursor', last);
      }),
    );
    expect(v.parse(BooksQuery, {})).not.toHaveProperty('cursor');
  });

  test('keeps its format, so that clients can continue a list after a deployment', () => {
    expect(encodeCursor(244141843387957n)).toBe('AADeC7PZljU');
  });

  test('is rejected if it is truncated, because it would be a different position', () => {
    const cursor = encodeCursor(244141843387957n);
    const truncated = Array.from(cursor, (_, length) => cursor.slice(0, length));
    for (const one of [...truncated, `${cursor}A`])
      expect([one, v.is(BooksQuery, { cursor: one })]).toEqual([one, false]);
  });

  test.each([
    ['zero', 'AAAAAAAAAAA'],
    ['negative', '__________8'],
    ['of another alphabet', 'AADeC7PZlj+'],
    ['with padding', 'AADeC7PZlj='],
    ['with a line break', 'AADeC7PZlj\n'],
  ])('is rejected if it is %s', (_what, cursor) => {
    expect(v.is(BooksQuery, { cursor })).toBe(false);
  });
});

test('exactly the limits from 1 to 100 are accepted', () => {
  const limits = Array.from({ length: 1_003 }, (_, index) => index - 2);
  const accepted = limits.filter((limit) => v.is(BooksQuery, { limit: `${limit}` }));
  expect(accepted).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});

test.each<[string, unknown[]]>([
  ['limit', ['+5', '5.0', '05', '5\n', ' 5', '1e1', '']],
  ['genre', ['Crime', 'crime,poetry', '']],
  ['cursor', ['', '?', 5, ['AADeC7PZljU', 'AADeC7PZljU']]],
])('an invalid %s is rejected', (name, values) => {
  expect(values.filter((value) => v.is(BooksQuery, { [name]: value }))).toEqual([]);
});

test('the address of the next page repeats the limit and filters of the list', () => {
  const query = { limit: 5, genre: 'crime', shelf: 7n, cursor: 43n };
  const address = nextPage(books, query, 42n);
  expect(address).toBe('/v1/books?limit=5&genre=crime&shelf=7&cursor=AAAAAAAAACo');
  const sent = Object.fromEntries(new URLSearchParams(address.split('?')[1]));
  expect(v.parse(BooksQuery, sent)).toEqual({ ...query, cursor: 42n });
});

test('filters that cannot be combined are rejected with a list of the combinations', () => {
  const query = { genre: 'crime', shelf: '7' };
  const { issues = [] } = v.safeParse(listQuery({ ...books, filterCombinations: [] }), query);
  expect(issues.map(({ message }) => message)).toEqual(['Filters can be combined only as follows: none']);
  expect(v.is(BooksQuery, query)).toBe(true);
});

test('a list has an index without filters, for each filter and for each combination', () => {
  expect(listIndexes(books)).toEqual([
    { indexName: 'newest', filters: [], partitionKey: 'list' },
    { indexName: 'newest-by-genre', filters: ['genre'], partitionKey: 'genre' },
    { indexName: 'newest-by-shelf', filters: ['shelf'], partitionKey: 'shelf' },
    { indexName: 'newest-by-genre-and-shelf', filters: ['genre', 'shelf'], partitionKey: 'genre-and-shelf' },
  ]);
});
