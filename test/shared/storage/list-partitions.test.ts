import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { queryLimit } from '../../../shared/list-partitions.ts';
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
import { inputs, setEnvironment } from '../../support/mocked-database.ts';

setEnvironment({ BOOKS_TABLE: 'books', IDEMPOTENCY_TABLE: 'records' });

let now = 0;
beforeEach(() => {
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  jest.spyOn(process.stdout, 'write').mockReturnValue(true); // This suppresses metrics.
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** An epoch. `start` is the number of milliseconds after the start of the first epoch. */
interface Epoch {
  start: number;
  count: number;
}

const FIRST = Date.parse('2025-01-01T00:00:00Z');
const IDS_PER_MILLISECOND = 4_096n;

/** Sets `LIST_PARTITIONS` to `epochs`, and the clock to `clock` milliseconds after the start of the first epoch. */
function use(epochs: Epoch[], clock: number): void {
  const all = epochs.map(({ start, count }) => ({ since: new Date(FIRST + start).toISOString(), count }));
  process.env['LIST_PARTITIONS'] = JSON.stringify([
    { ...all[0], since: '2025-01-01T00:00:00Z' },
    ...all.slice(1),
  ]);
  now = FIRST + clock;
}

const counts = fc.integer({ min: 1, max: 20 });

/** Generates epochs whose counts go up and down. */
const histories = fc
  .tuple(counts, fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), counts), { maxLength: 5 }))
  .map(([count, later]) => {
    const epochs: Epoch[] = [{ start: 0, count }];
    for (const [length, next] of later) epochs.push({ start: epochs.at(-1)!.start + length, count: next });
    return epochs;
  });

function epochOf(id: bigint, epochs: Epoch[]): Epoch {
  return epochs.findLast(({ start }) => start <= id / IDS_PER_MILLISECOND)!;
}

const isOld = (id: bigint) => id < 5n * IDS_PER_MILLISECOND;

const fields = fc.record({ genre: fc.option(genres, { nil: undefined }), shelf: shelves });

/** Generates epochs, and the books that a stage has stored in them, from oldest to newest. */
const stages = histories.chain((epochs) => {
  const end = epochs.at(-1)!.start + 30;
  // Some ids are the first of an epoch.
  const time = fc.oneof(fc.nat(end), fc.constantFrom(...epochs.map(({ start }) => start)));
  const id = fc
    .tuple(time, fc.oneof(fc.constant(0), fc.nat(4_095)))
    .map(([milliseconds, random]) => BigInt(milliseconds) * IDS_PER_MILLISECOND + BigInt(random))
    .filter((one) => one > 0n);
  const books = fc
    .uniqueArray(fc.tuple(id, fields), { selector: ([one]) => one, maxLength: 120, size: '+2' })
    .map((all) =>
      all
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([one, values]) => {
          const { start, count } = epochOf(one, epochs);
          // Before there were epochs, a stage could have fewer list partitions than the count of its first epoch.
          const number = start === 0 && isOld(one) ? Math.ceil(count / 2) : count;
          return indexedBook(one, `${one % BigInt(number)}`, values);
        }),
    );
  const clock = fc.integer({ min: -10, max: end + 10 });
  return fc.record({ epochs: fc.constant(epochs), books, clock });
});

const lists = fc.record({
  stage: stages,
  limit: fc.integer({ min: 1, max: 30 }),
  filters: anyFilters,
  booksAtOnce: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 5 })),
});

const newestFirst = (ids: bigint[]) => ids.toSorted((one, other) => (one > other ? -1 : 1));
const idsOf = (books: IndexedBook[], filters: object) =>
  newestFirst(books.filter((book) => isDeepStrictEqual({ ...book, ...filters }, book)).map(({ id }) => id));

describe('a list over several epochs', () => {
  test('contains each book exactly once, newest first, whatever the clock shows', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async ({ stage: { epochs, books, clock }, limit, filters, booksAtOnce }) => {
        use(epochs, clock);
        serveIndexes(books, booksAtOnce);
        const pages = await allPages(limit, filters);
        expect(pages.flat()).toEqual(idsOf(books, filters));
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      }),
    );
  });

  test('queries only the list partitions of the epochs that the page touches', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async ({ stage: { epochs, books, clock }, limit, filters, booksAtOnce }) => {
        use(epochs, clock);
        const expected = idsOf(books, filters);
        for (
          let cursor: bigint | undefined, first = 0;
          first < Math.max(1, expected.length);
          first += limit
        ) {
          serveIndexes(books, booksAtOnce);
          await list(collection, { limit, filters, ...(cursor && { cursor }) }, signal);
          // `list` tries to read one book more than the limit, to determine whether there is a next page.
          // The first page can also contain books that are newer than the clock.
          const oldest = Number((expected[first + limit] ?? 0n) / IDS_PER_MILLISECOND);
          const newest = cursor ? Number((cursor - 1n) / IDS_PER_MILLISECOND) : Infinity;
          const touched = epochs.filter(({ start }, index) => {
            const end = epochs[index + 1]?.start ?? Infinity;
            return end > (cursor ? oldest : Math.min(oldest, clock)) && start <= newest;
          });
          const asked = inputs().map((input) => input.ExpressionAttributeValues[':key'].S.split('#').at(-1));
          expect(Math.max(...asked)).toBeLessThan(Math.max(...touched.map(({ count }) => count)));
          cursor = expected[first + limit - 1];
        }
      }),
    );
  });

  test.each([
    ['one list partition once', 'a page in an epoch with one list partition', [4, 1, 16], 2_500, 1_530, [21]],
    [
      'the list partitions of both epochs',
      'the first page shortly before an epoch with more list partitions',
      [1, 4],
      990,
      undefined,
      [21, 21, 21, 21],
    ],
    [
      'the list partitions of both epochs',
      'the first page shortly before an epoch with fewer list partitions',
      [4, 1],
      990,
      undefined,
      [14, 14, 14, 14],
    ],
    [
      'older list partitions in a second round',
      'the first page when an epoch starts',
      [4, 1],
      1_000,
      undefined,
      [21, 13, 13, 13],
    ],
    [
      'older list partitions in a second round',
      'a page across the start of an epoch',
      [4, 1],
      2_500,
      1_010,
      [21, 9, 9, 9],
    ],
  ])('queries %s for %s', async (_what, _where, allCounts, clock, cursor, limits) => {
    use(
      allCounts.map((count, index) => ({ start: index * 1_000, count })),
      clock,
    );
    // A book is created in each millisecond. Successive books are in successive list partitions of their epoch.
    const books = Array.from({ length: clock }, (_, index) => {
      const milliseconds = index + 1;
      const count = allCounts[Math.floor(milliseconds / 1_000)]!;
      return indexedBook(BigInt(milliseconds) * IDS_PER_MILLISECOND, `${milliseconds % count}`);
    });
    serveIndexes(books);
    const page = { limit: 20, filters: {}, ...(cursor && { cursor: BigInt(cursor) * IDS_PER_MILLISECOND }) };
    const { items } = await list(collection, page, signal);
    expect(items).toHaveLength(20);
    expect(inputs().map(({ Limit }) => Limit)).toEqual(limits);
  });
});

describe('queryLimit', () => {
  test('returns the requested number for one partition, and a lower limit for each of 16 partitions', () => {
    expect([queryLimit(21, 1), queryLimit(21, 16), queryLimit(101, 16)]).toEqual([21, 6, 15]);
  });

  test('returns a limit with which one query per partition is sufficient for more than 97% of lists', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 16 }), fc.integer({ min: 1, max: 100 }), (partitions, limit) => {
        let chance = (1 - 1 / partitions) ** limit;
        let cumulative = chance;
        // The loop sums the binomial distribution of the number of items in one partition.
        for (let items = 1; items < queryLimit(limit + 1, partitions); items += 1) {
          chance *= (limit - items + 1) / items / (partitions - 1);
          cumulative += chance;
        }
        expect(partitions * (1 - cumulative)).toBeLessThan(0.03);
      }),
    );
  });
});
