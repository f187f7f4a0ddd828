import { QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import type { ListQuery } from '../../../shared/contract/lists.ts';
import { list } from '../../../shared/storage/lists.ts';
import { type Book, books as collection } from '../../support/books.ts';
import { inputs, mock, setEnvironment } from '../../support/mocked-database.ts';

setEnvironment({ BOOKS_TABLE: 'books', LIST_PARTITIONS: '1' });

type Genre = Book['genre'];

const genres = fc.constantFrom<Genre[]>('crime', 'poetry');
const shelves = fc.constantFrom(1n, -1n);
const anyFilters = fc.oneof(
  fc.constant({}),
  fc.record({ genre: genres }, { noNullPrototype: true }),
  fc.record({ genre: genres, shelf: shelves }, { noNullPrototype: true }),
);

interface IndexedBook extends Book {
  creation: string;
  partition: string;
  genrePartition?: string;
  'genre-shelfPartition'?: string;
}

const KEY_OF_INDEX: Record<string, string> = {
  newest: 'partition',
  'newest-by-genre': 'genrePartition',
  'newest-by-genre-and-shelf': 'genre-shelfPartition',
};

/** Returns the book that a stage stores for a book. @param partitions number of the stage's list partitions */
function indexedBook(
  id: bigint,
  { partitions = 1, genre, shelf = 1n }: { partitions?: number; genre?: Genre; shelf?: bigint } = {},
): IndexedBook {
  const partition = (id % BigInt(partitions)).toString();
  return {
    id,
    title: `Number ${id}`,
    shelf,
    creation: `creation of ${id}`,
    partition,
    ...(genre && {
      genre,
      genrePartition: `${genre}#${partition}`,
      'genre-shelfPartition': `${genre}#${shelf}#${partition}`,
    }),
  };
}

/**
 * Mocks queries of the indexes. A query returns the matching books that `books` contains at the time of the query, up
 * to `Limit` or `booksAtOnce`, whichever is smaller. As in DynamoDB, a query that reaches this limit returns a
 * LastEvaluatedKey even if no further book follows. `afterQuery` is called after each query.
 */
function serveIndexes(
  books: readonly IndexedBook[],
  booksAtOnce = Infinity,
  afterQuery = (): void => {},
): void {
  mock.reset(); // otherwise, the record of calls grows with each run and slows the test down
  mock.on(QueryCommand).callsFake((input: QueryCommandInput) => {
    const { IndexName = '', ScanIndexForward = true, Limit = Infinity, ExclusiveStartKey } = input;
    const key = KEY_OF_INDEX[IndexName];
    const values = unmarshall(input.ExpressionAttributeValues!, { wrapNumbers: BigInt });
    if (input.ExpressionAttributeNames?.['#partition_key'] !== key) throw new Error(`#key must be ${key}.`);
    const sorted = books
      .filter((book) => isMatch(book, input, values))
      .toSorted((one, other) => (one.id < other.id === ScanIndexForward ? -1 : 1));
    const start = sorted.findIndex(({ id }) => id.toString() === ExclusiveStartKey?.['id']?.N) + 1;
    const end = start + Math.min(Limit, booksAtOnce);
    const last = sorted[end - 1] as any;
    const LastEvaluatedKey = last && marshall({ id: last.id, [key!]: last[key!] });
    afterQuery();
    return { Items: sorted.slice(start, end).map((book) => marshall(book)), LastEvaluatedKey };
  });
}

function isMatch(book: any, input: QueryCommandInput, values: Record<string, unknown>): boolean {
  return input.KeyConditionExpression!.split(' AND ').every((condition) => {
    const [name = '', operator, value = ''] = condition.split(' ');
    const actual = book[input.ExpressionAttributeNames?.[name] ?? name];
    const operand: any = values[value];
    if (operator === '=') return actual === operand;
    if (operator === '<') return actual < operand;
    throw new Error(`The indexes do not support this condition: ${condition}`);
  });
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
          indexedBook(BigInt(index * partitions + partition + 1), { partitions, ...fields }),
        ),
    );
}

async function allPages(limit: number, filters: ListQuery['filters']): Promise<bigint[][]> {
  const pages: bigint[][] = [];
  let cursor: bigint | undefined;
  do {
    const page = await list(collection, { limit, filters, ...(cursor && { cursor }) });
    pages.push(page.items.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== undefined);
  return pages;
}

describe.each([1, 4, 16])('a list over %i partitions', (partitions) => {
  const lists = fc.record({
    books: booksOver(partitions),
    limit: fc.integer({ min: 1, max: 30 }),
    filters: anyFilters,
    booksAtOnce: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 5 })),
    grows: fc.boolean(),
  });

  beforeEach(() => {
    process.env['LIST_PARTITIONS'] = partitions.toString();
  });

  test('contains each initially matching book exactly once, newest first, while books are added', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async ({ books, limit, filters, booksAtOnce, grows }) => {
        const stored = [...books];
        serveIndexes(stored, booksAtOnce, () => {
          if (grows) stored.push(indexedBook(2n ** 53n + BigInt(stored.length), { partitions, ...filters }));
        });
        const pages = await allPages(limit, filters);
        const listed = pages.flat();
        const expected = books
          .filter((book) => isDeepStrictEqual({ ...book, ...filters }, book))
          .map(({ id }) => id);
        expect(listed.filter((id) => id < 2n ** 53n)).toEqual(expected.toReversed());
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
        await list(collection, { limit, filters: {} });
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
  test.each(['0', '1.5'])('fail if LIST_PARTITIONS is %s', async (n) => {
    process.env['LIST_PARTITIONS'] = n;
    await expect(list(collection, { limit: 20, filters: {} })).rejects.toThrow(
      'LIST_PARTITIONS must be a positive integer',
    );
  });

  test('continue only in partitions that can contain more books of the page', async () => {
    process.env['LIST_PARTITIONS'] = '4';
    // Partition 2 contains the five newest books. Partition 1 contains the remaining 35 books.
    const ids = Array.from({ length: 40 }, (_, index) => BigInt(400 - 4 * index + (index < 5 ? 2 : 1)));
    serveIndexes(ids.map((id) => indexedBook(id, { partitions: 4 })));
    const listing = list(collection, { limit: 20, filters: {} });
    const first = inputs();
    expect(first.map(({ Limit }) => Limit)).toEqual([14, 14, 14, 14]);
    await listing;
    const ExclusiveStartKey = marshall({ id: ids[18], partition: '1' });
    expect(inputs()).toEqual([...first, { ...first[1], Limit: 2, ExclusiveStartKey }]);
  });

  test('request only the fields of books, and one more book than the limit of the page', async () => {
    mock.on(QueryCommand).resolves({});
    await list(collection, { limit: 100, filters: {} });
    const ProjectionExpression = '#id,#title,#shelf,#genre';
    expect(inputs()).toMatchObject([{ ProjectionExpression, Limit: 101 }]);
  });

  test('fail with the error of a failed query', async () => {
    process.env['LIST_PARTITIONS'] = '4';
    const error = Object.assign(new Error('?'), { name: 'ThrottlingException' });
    mock
      .on(QueryCommand)
      .resolvesOnce({ Items: [marshall(indexedBook(4n))] })
      .rejects(error);
    await expect(list(collection, { limit: 3, filters: {} })).rejects.toBe(error);
  });
});
