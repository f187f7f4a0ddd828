import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { encodeCursor } from '../../../shared/contract/cursor.ts';
import { collections } from '../../../shared/contract/operations.ts';
import type { Collection, PublishedCollection } from '../../../shared/contract/collection.ts';
import { listIndexes } from '../../../shared/list-indexes.ts';
import { collectionTests } from '../../collections/all.ts';
import { books } from '../../support/books.ts';
import { INT64 } from '../../../shared/contract/limits.ts';

const all: Collection[] = [...collections, books];
const published: readonly PublishedCollection[] = collections;

function expectUnique(values: string[]): void {
  expect(values).toEqual([...new Set(values)]);
}

// Two lists with the same prefix would accept each other's cursors, and two collections with the same name would share a
// table.
test.each(['singular', 'plural', 'path', 'cursorPrefix'] as const)(
  'no two collections have the same value of %s',
  (property) => {
    expectUnique(published.map((collection) => collection[property]));
  },
);

test('no two schemas have the same name, and no two operations the same id', () => {
  expectUnique(['Error', ...published.flatMap(({ schemas }) => Object.keys(schemas))]);
  expectUnique(published.flatMap((one) => Object.values(one.operations).map(({ id }) => id)));
});

test.each(all)('no field of $plural has the name of an attribute that the service adds', (collection) => {
  const added = new Set(['creation', ...listIndexes(collection).map(({ partitionKey }) => partitionKey)]);
  expect(Object.keys(collection.item.entries).filter((name) => added.has(name))).toEqual([]);
});

test.each(all)('the cursors of $plural have at most 64 characters', ({ cursorPrefix }) => {
  const longest = encodeCursor(cursorPrefix, BigInt(Number.MAX_SAFE_INTEGER), {});
  expect(longest.length).toBeLessThanOrEqual(64);
});

test.each(published)('test/collections has each field and filter of $plural', (collection) => {
  const { plural, operations, filters, filterCombinations } = collection;
  const tests = collectionTests[plural as keyof typeof collectionTests];
  const { body } = operations.create.request.entries as any;
  expect(Object.keys(tests.newItem('a text'))).toEqual(Object.keys(body.entries));
  // A new index is deployed before clients can send its filter, so a combination can contain a field that is not a filter yet.
  const sendable = filterCombinations.filter((names) => names.every((name) => name in filters));
  const tested = tests.filters.map(({ query }) => Object.keys(query).join());
  expect(new Set(['', ...tested])).toEqual(new Set(sendable.map((names) => names.join())));
});

test.each(all)('the published limits of each integer of $plural are the limits of its schema', ({ item }) => {
  for (const [name, entry] of Object.entries<any>(item.entries)) {
    const schema = entry.wrapped ?? entry;
    // The format int64 implies its limits.
    const { type, minimum = INT64.minimum, maximum = INT64.maximum }: any = v.getMetadata(schema);
    if (type !== 'integer' || name === 'id') continue;
    const values = [BigInt(minimum), BigInt(maximum), BigInt(minimum) - 1n, BigInt(maximum) + 1n];
    expect([name, values.map((value) => v.is(schema, value))]).toEqual([name, [true, true, false, false]]);
  }
});

test.each(published)('the named schemas of $plural belong to its operations', (collection) => {
  const { item, schemas, operations } = collection;
  const { body } = operations.create.request.entries as any;
  expect(Object.values(schemas)).toEqual(expect.arrayContaining([item, body]));
});

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
