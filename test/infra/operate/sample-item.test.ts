import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { sampleItem } from '../../../infra/operate/sample-item.ts';
import { Int64, text } from '../../../shared/contract/fields.ts';
import { NewBook } from '../../support/books.ts';

/** Returns 500 items, as `npm run seed` generates them. */
const itemsOf = (schema: { entries: v.ObjectEntries }, seed = 7): any[] =>
  Array.from({ length: 500 }, (_, index) => sampleItem(schema, [seed, index]));

test('sample items are valid, and their values vary like those of a real service', () => {
  const books: v.InferOutput<typeof NewBook>[] = itemsOf(NewBook);
  for (const book of books) expect(v.safeParse(NewBook, book).issues).toBeUndefined();
  expect(new Set(books.map(({ title }) => title)).size).toBeGreaterThan(400);
  expect(books.some(({ title }) => /\P{ASCII}/u.test(title))).toBe(true);
  const shelves = new Set(books.map(({ shelf }) => shelf));
  expect([...shelves]).toEqual(expect.arrayContaining([1n, 9n, -(2n ** 63n), 2n ** 63n - 1n]));
  expect(books.filter(({ shelf }) => shelf >= 1n && shelf <= 9n).length).toBeGreaterThan(400);
  expect(new Set(books.map(({ genre }) => genre))).toEqual(new Set(['crime', 'poetry', undefined]));
  expect(books.filter((book) => 'genre' in book && book.genre === undefined)).toEqual([]);
});

test('sample items depend only on the schema, the seed and the index', () => {
  const items = itemsOf(NewBook);
  expect(itemsOf(NewBook)).toEqual(items);
  expect(itemsOf(NewBook, 8)).not.toEqual(items);
});

test('sample texts are cut to the maximum length, and fields with a custom rule or an unknown type take the examples in the schema', () => {
  const isIsbn = v.regex(/^978\d{10}$/, 'must be an ISBN');
  const schema = v.object({
    code: text(3),
    isbn: v.pipe(text(20), isIsbn, v.examples(['9783161484100'])),
    pages: v.pipe(v.exactOptional(v.pipe(Int64, v.minValue(5n))), v.examples([640n])),
    isLent: v.pipe(v.exactOptional(v.boolean()), v.examples([true])),
  });
  const items = itemsOf(schema);
  for (const item of items) expect(v.safeParse(schema, item).issues).toBeUndefined();
  expect(items.some(({ code }) => Array.from(code).length === 3)).toBe(true);
  expect(new Set(items.map(({ isbn }) => isbn))).toEqual(new Set(['9783161484100']));
  expect(items.some(({ pages }) => pages === 640n)).toBe(true);
  expect(new Set(items.map(({ isLent }) => isLent))).toEqual(new Set([true, undefined]));
});
