import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { encodeCursor } from '../../../shared/contract/cursor.ts';
import { Int64Text } from '../../../shared/contract/fields.ts';
import { listQuery, nextPage } from '../../../shared/contract/lists.ts';
import { pets } from '../../../shared/contract/pets.ts';

const ListPetsQuery = listQuery(pets);

function problems(query: object): [string | undefined, string][] {
  const { issues = [] } = v.safeParse(ListPetsQuery, query);
  return issues.map((issue) => [v.getDotPath(issue) ?? undefined, issue.message]);
}

test.each<[string, string, object, string]>([
  ['with a filter', 'without filters', { status: 'sold' }, encodeCursor('2', 42n, {})],
  ['without filters', 'with a filter', {}, encodeCursor('2', 42n, { status: 'sold' })],
])('a list %s rejects the cursor of a list %s', (_list, _other, query, cursor) => {
  expect(problems({ ...query, cursor })).toEqual([
    ['cursor', 'must be from a page of this list, or omitted'],
  ]);
});

test('a list accepts a cursor that was created for the same filters', () => {
  const query = { status: 'sold', cursor: encodeCursor('2', 42n, { status: 'sold' }) };
  expect(v.parse(ListPetsQuery, query)).toMatchObject({ filters: { status: 'sold' }, cursor: 42n });
  expect(v.parse(ListPetsQuery, { status: 'sold' })).not.toHaveProperty('cursor');
});

test('exactly the limits from 1 to 100 are accepted', () => {
  const limits = Array.from({ length: 1_003 }, (_, index) => index - 2);
  const accepted = limits.filter((limit) => v.is(ListPetsQuery, { limit: `${limit}` }));
  expect(accepted).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});

test.each<[string, unknown[]]>([
  ['limit', ['+5', '5.0', '05', '5\n', ' 5', '1e1', '']],
  ['status', ['Sold', 'sold,pending', '']],
  ['cursor', ['', '?', 'a b', 'MA==', 'a\n', 'a'.repeat(65), 5]],
])('an invalid %s is rejected', (name, values) => {
  expect(values.filter((value) => v.is(ListPetsQuery, { [name]: value }))).toEqual([]);
});

test('the next page of a list repeats its limit and filters', () => {
  const address = nextPage(pets, { limit: 5, filters: { status: 'sold' } }, 42n);
  expect(address).toMatch(/^\/v1\/pets\?limit=5&status=sold&cursor=[\w-]+$/);
  const query = Object.fromEntries(new URLSearchParams(address.split('?')[1]));
  expect(v.parse(ListPetsQuery, query)).toEqual({ limit: 5, filters: { status: 'sold' }, cursor: 42n });
});

test('a list rejects the cursors of another list', () => {
  const other = listQuery({ ...pets, cursorPrefix: 'others' });
  const cursor = encodeCursor('others', 42n, {});
  expect(v.is(other, { cursor })).toBe(true);
  expect(problems({ cursor })).toEqual([['cursor', 'must be from a page of this list, or omitted']]);
});

describe('filters', () => {
  test('are enumerations or integers, because index keys cannot contain every text', () => {
    const texts = ['a', '#', 'sold#1', 'x'.repeat(2_049)];
    const accepted = texts.filter((text) => Object.values(pets.filters).some((filter) => v.is(filter, text)));
    expect(accepted).toEqual([]);
  });

  test('that form no supported combination are rejected with a list of the supported combinations', () => {
    const query = listQuery({
      ...pets,
      filters: { ...pets.filters, categoryId: v.exactOptional(Int64Text) },
      filterCombinations: [[], ['status', 'categoryId'], ['categoryId']],
    });
    const message = 'must be part of a supported combination of filters: status and categoryId or categoryId';
    expect(v.safeParse(query, { status: 'sold' }).issues).toMatchObject([{ message }]);
    expect(v.is(query, { status: 'sold', categoryId: '7' })).toBe(true);
  });

  test('of pets all belong to a supported combination, because the service rejects the others', () => {
    const combined = new Set<string>(pets.filterCombinations.flat());
    const missing = Object.keys(pets.filters).filter((name) => !combined.has(name));
    expect(missing.map((name) => `Add ${name} to filterCombinations in shared/contract/pets.ts.`)).toEqual(
      [],
    );
  });
});
