import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { collections } from '../../../shared/contract/operations.ts';
import type { Collection } from '../../../shared/contract/collection.ts';
import { books } from '../../support/books.ts';

const all: Collection[] = [...collections, books];

// Two lists with the same prefix would accept each other's cursors, and two collections with the same name would share a
// table.
test.each(['singular', 'plural', 'path', 'cursorPrefix'] as const)(
  'no two collections have the same %s',
  (property) => {
    const values = all.map((collection) => collection[property]);
    expect(values).toEqual([...new Set(values)]);
  },
);

test.each(all)('each filter of $plural is a field and part of a supported combination', (collection) => {
  const { plural, item, filters, filterCombinations } = collection;
  const combined = filterCombinations.flat();
  const missing = Object.keys(filters).filter((name) => !combined.includes(name));
  expect(missing.map((name) => `Add ${name} to filterCombinations of ${plural}.`)).toEqual([]);
  expect(Object.keys(item.entries)).toEqual(expect.arrayContaining([...combined, 'id']));
  expect(filterCombinations[0]).toEqual([]);
});

test.each(all)(
  'each filter of $plural is an enumeration or an integer, because index keys cannot contain every text',
  ({ filters }) => {
    const texts = ['a', '#', 'a#1', 'x'.repeat(2_049)];
    const accepted = texts.filter((text) => Object.values(filters).some((filter) => v.is(filter, text)));
    expect(accepted).toEqual([]);
  },
);
