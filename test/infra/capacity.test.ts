import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { largestItemBytes } from '../../infra/capacity.ts';
import { books } from '../support/books.ts';

test('the largest item has the longest values of all fields, and the keys of all indexes', () => {
  // These are the bytes of the names and values of id, title, shelf, genre and creation, and of the keys of three indexes.
  const fields = 2 + 21 + (5 + 400) + (5 + 21) + (5 + 6) + (8 + 64);
  const keys = 9 + 3 + (14 + 7 + 3) + (20 + 7 + 22 + 3);
  expect(largestItemBytes(books)).toBe(fields + keys);
});

test('a field of a type whose size is unknown is rejected with advice on where to add the size', () => {
  const item = v.object({ ...books.item.entries, tags: v.array(v.string()) });
  expect(() => largestItemBytes({ ...books, item })).toThrow(
    'Add the size of the field tags to largestValueBytes in infra/capacity.ts.',
  );
});
