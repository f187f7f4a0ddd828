import { QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import * as fc from 'fast-check';
import type { ListQuery } from '../../shared/contract/lists.ts';
import { list } from '../../shared/storage/lists.ts';
import { type Book, books as collection } from './books.ts';
import { signal } from './invoke.ts';
import { mock } from './mocked-database.ts';

type Genre = Book['genre'];

export const genres = fc.constantFrom<Genre[]>('crime', 'poetry');
export const shelves = fc.constantFrom(1n, -1n);
export const anyFilters = fc.oneof(
  fc.constant({}),
  fc.record({ genre: genres }, { noNullPrototype: true }),
  fc.record({ genre: genres, shelf: shelves }, { noNullPrototype: true }),
);

export interface IndexedBook extends Book {
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

/** Returns the book that a stage stores in a list partition. */
export function indexedBook(
  id: bigint,
  partition: string,
  { genre, shelf = 1n }: { genre?: Genre; shelf?: bigint } = {},
): IndexedBook {
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
export function serveIndexes(
  books: readonly IndexedBook[],
  booksAtOnce = Infinity,
  afterQuery = (): void => {},
): void {
  mock.reset(); // Otherwise, the record of calls would grow with each run and slow the test down.
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

/** Returns the ids on all pages of a list. */
export async function allPages(limit: number, filters: ListQuery['filters']): Promise<bigint[][]> {
  const pages: bigint[][] = [];
  let cursor: bigint | undefined;
  do {
    const page = await list(collection, { limit, filters, ...(cursor && { cursor }) }, signal);
    pages.push(page.items.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== undefined);
  return pages;
}
