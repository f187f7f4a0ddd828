import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { listIndexes } from '../../../shared/contract/lists.ts';
import { collections } from '../../../shared/contract/operations.ts';
import type { Collection, PublishedCollection } from '../../../shared/contract/operation.ts';
import { books } from '../../support/books.ts';
import { INT64 } from '../../../shared/contract/limits.ts';

const all: Collection[] = [...collections, books];
const published: readonly PublishedCollection[] = collections;

function expectUnique(values: string[]): void {
  expect(values).toEqual([...new Set(values)]);
}

// Two collections with the same name would share a table.
test.each(['singular', 'plural', 'path'] as const)(
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
  const keys = listIndexes(collection).filter(({ filters }) => filters.length !== 1);
  const added = new Set(['creation', ...keys.map(({ partitionKey }) => partitionKey)]);
  expect(Object.keys(collection.item.entries).filter((name) => added.has(name))).toEqual([]);
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
  const { body } = operations.create.request;
  expect(Object.values(schemas)).toEqual(expect.arrayContaining([item, body]));
});

test.each(all)(
  'each filter of $plural is a field, and each combination has several filters',
  (collection) => {
    const { item, filters, filterCombinations } = collection;
    expect(Object.keys(item.entries)).toEqual(expect.arrayContaining([...Object.keys(filters), 'id']));
    expect(Object.keys(filters)).toEqual(expect.arrayContaining(filterCombinations.flat()));
    expect(filterCombinations.filter(({ length }) => length < 2)).toEqual([]);
  },
);

test.each(all)(
  'each filter of $plural is an enumeration or an integer, because index keys cannot contain every text',
  ({ filters }) => {
    const texts = ['a', '#', 'a#1', 'x'.repeat(2_049)];
    const accepted = texts.filter((text) => Object.values(filters).some((filter) => v.is(filter, text)));
    expect(accepted).toEqual([]);
  },
);
