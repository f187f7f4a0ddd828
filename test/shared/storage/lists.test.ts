import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { list } from '../../../shared/storage/lists.ts';
import { books as collection } from '../../support/books.ts';
import {
  allPages,
  anyFilters,
  genres,
  type IndexedBook,
  indexedBook,
  serveIndexes,
  shelves,
} from '../../support/indexed-books.ts';
import { signal } from '../../support/invoke.ts';
import { oneEpoch } from '../../support/list-epochs.ts';
import { inputs, mock, setEnvironment } from '../../support/mocked-database.ts';

setEnvironment({ BOOKS_TABLE: 'books', LIST_PARTITIONS: oneEpoch(1) });

/** Books with this id and greater ids are newer than all others. */
const NEWER = 2n ** 52n;

/** Returns a book as it is stored by a stage whose number of list partitions has never changed. */
function bookOver(
  partitions: number,
  id: bigint,
  fields: Parameters<typeof indexedBook>[2] = {},
): IndexedBook {
  return indexedBook(id, (id % BigInt(partitions)).toString(), fields);
}

/** Generates books from oldest to newest. Several consecutive books can be in the same partition. */
function booksOver(partitions: number): fc.Arbitrary<IndexedBook[]> {
  const some = fc.array(fc.record({ genre: fc.option(genres, { nil: undefined }), shelf: shelves }), {
    maxLength: 25,
  });
  const run = fc.tuple(fc.nat(partitions - 1), some);
  return fc
    .array(run, { maxLength: 20, size: '+1' })
    .map((runs) =>
      runs
        .flatMap(([partition, all]) => all.map((fields) => ({ partition, fields })))
        .map(({ partition, fields }, index) =>
          bookOver(partitions, BigInt(index * partitions + partition + 1), fields),
        ),
    );
}

describe.each([1, 4, 16])('a list whose number of partitions is %i', (partitions) => {
  const lists = fc.record({
    books: booksOver(partitions),
    limit: fc.integer({ min: 1, max: 30 }),
    filters: anyFilters,
    booksAtOnce: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 5 })),
    grows: fc.boolean(),
  });

  beforeEach(() => {
    process.env['LIST_PARTITIONS'] = oneEpoch(partitions);
  });

  test('contains each initially matching book exactly once, newest first, while books are added', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async ({ books, limit, filters, booksAtOnce, grows }) => {
        const stored = [...books];
        serveIndexes(stored, booksAtOnce, () => {
          if (grows) stored.push(bookOver(partitions, NEWER + BigInt(stored.length), filters));
        });
        const pages = await allPages(limit, filters);
        const listed = pages.flat();
        const expected = books
          .filter((book) => isDeepStrictEqual({ ...book, ...filters }, book))
          .map(({ id }) => id);
        expect(listed.filter((id) => id < NEWER)).toEqual(expected.toReversed());
        expect(listed.every((id, index) => index === 0 || id < listed[index - 1]!)).toBe(true);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
        expect(pages.length === 1 || pages.at(-1)!.length > 0).toBe(true);
      }),
    );
  });

  test('requests at most one book more than the limit from each partition, in at most two queries', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async ({ books, limit }) => {
        serveIndexes(books);
        await list(collection, { limit, filters: {} }, signal);
        const byKey = Map.groupBy(inputs(), ({ ExpressionAttributeValues: values }) => values?.[':key']?.S);
        for (const [first, second, ...more] of byKey.values()) {
          expect(first!.Limit! + (second?.Limit ?? 0)).toBeLessThanOrEqual(limit + 1);
          expect(more).toEqual([]);
        }
      }),
    );
  });
});

describe('the queries of a list', () => {
  test.each([
    oneEpoch(0),
    oneEpoch(1.5),
    '[]',
    '[{"since":"2026-01-01T00:00:00Z","count":1}]',
    '[{"since":"2025-01-01T00:00:00Z","count":1},{"since":"2026-01-01T00:00:00Z","count":0}]',
  ])('fail if LIST_PARTITIONS is %s', async (epochs) => {
    process.env['LIST_PARTITIONS'] = epochs;
    await expect(list(collection, { limit: 20, filters: {} }, signal)).rejects.toThrow(
      'LIST_PARTITIONS must contain epochs as in infra/stages.ts.',
    );
  });

  test('continue only in partitions that can contain more books of the page', async () => {
    process.env['LIST_PARTITIONS'] = oneEpoch(4);
    // Partition 2 contains the five newest books. Partition 1 contains the remaining 35 books.
    const ids = Array.from({ length: 40 }, (_, index) => BigInt(400 - 4 * index + (index < 5 ? 2 : 1)));
    serveIndexes(ids.map((id) => bookOver(4, id)));
    const listing = list(collection, { limit: 20, filters: {} }, signal);
    const first = inputs();
    expect(first.map(({ Limit }) => Limit)).toEqual([14, 14, 14, 14]);
    await listing;
    const ExclusiveStartKey = marshall({ id: ids[18], partition: '1' });
    expect(inputs()).toEqual([...first, { ...first[1], Limit: 2, ExclusiveStartKey }]);
  });

  test('request only the fields of books, and one more book than the limit of the page', async () => {
    mock.on(QueryCommand).resolves({});
    await list(collection, { limit: 100, filters: {} }, signal);
    const ProjectionExpression = '#id,#title,#shelf,#genre';
    expect(inputs()).toMatchObject([{ ProjectionExpression, Limit: 101 }]);
  });

  test('fail with the error of a failed query', async () => {
    process.env['LIST_PARTITIONS'] = oneEpoch(4);
    const error = Object.assign(new Error('?'), { name: 'ThrottlingException' });
    mock
      .on(QueryCommand)
      .resolvesOnce({ Items: [marshall(bookOver(4, 4n))] })
      .rejects(error);
    await expect(list(collection, { limit: 3, filters: {} }, signal)).rejects.toBe(error);
  });
});
