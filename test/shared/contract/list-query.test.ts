import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { encodeCursor } from '../../../shared/contract/cursor.ts';
import { PAGE } from '../../../shared/contract/limits.ts';
import { filterCombinations, ListPetsQuery } from '../../../shared/contract/list-query.ts';
import { PetStatus } from '../../../shared/contract/schemas.ts';

function problems(query: object): [string | undefined, string][] {
  const { issues = [] } = v.safeParse(ListPetsQuery, query);
  return issues.map((issue) => [v.getDotPath(issue) ?? undefined, issue.message]);
}

const names = Object.keys(ListPetsQuery.entries).filter((name) => name !== 'limit' && name !== 'cursor');

test.each<[string, string, object, string]>([
  ['with a filter', 'without filters', { status: 'sold' }, encodeCursor(42n, {})],
  ['without filters', 'with a filter', {}, encodeCursor(42n, { status: 'sold' })],
])('a list %s rejects the cursor of a list %s', (_list, _other, query, cursor) => {
  expect(problems({ ...query, cursor })).toEqual([
    ['cursor', 'must be from a page of this list, or omitted'],
  ]);
});

test('a list accepts a cursor that was created for the same filters', () => {
  const query = { status: 'sold', cursor: encodeCursor(42n, { status: 'sold' }) };
  expect(v.parse(ListPetsQuery, query)).toMatchObject({ filters: { status: 'sold' }, cursor: 42n });
  expect(v.parse(ListPetsQuery, { status: 'sold' })).not.toHaveProperty('cursor');
});

test('a repeated cursor is rejected', () => {
  expect(problems({ cursor: ['a', 'b'] })).toEqual([['cursor', 'must be a single value']]);
});

test('only limits in the documented range are accepted', () => {
  const limits = Array.from({ length: PAGE.maximum + 903 }, (_, index) => index - 2);
  const accepted = limits.filter((limit) => v.is(ListPetsQuery, { limit: limit.toString() }));
  expect(accepted).toEqual(Array.from({ length: PAGE.maximum }, (_, index) => index + PAGE.minimum));
});

test('the message for an invalid status filter lists the statuses', () => {
  const message = `must be exactly one of ${PetStatus.options.join(', ')}`;
  expect(problems({ status: 'nonsense' })).toEqual([['status', message]]);
});

describe('filters', () => {
  test('that form no supported combination are rejected with a list of the supported combinations', () => {
    const combinations = filterCombinations as unknown as unknown[];
    const supported = combinations.splice(1, Infinity, ['status', 'categoryId'], ['categoryId']);
    const message = 'must be part of a supported combination of filters: status and categoryId or categoryId';
    expect(problems({ status: 'sold' })).toEqual([['status', message]]);
    combinations.splice(1, 2, ...supported);
    expect(problems({ status: 'sold' })).toEqual([]);
  });

  test('all belong to a supported combination, because the service rejects filters that belong to none', () => {
    const missing = names.filter((name) => !filterCombinations.flat().includes(name as never));
    expect(
      missing.map((name) => `Add ${name} to filterCombinations in shared/contract/list-query.ts.`),
    ).toEqual([]);
  });
});
