import * as v from 'valibot';
import { integerTextMessage } from './fields.ts';
import { PAGE } from './limits.ts';
import type { Collection } from './operation.ts';

const LIMIT_MESSAGE = integerTextMessage(PAGE.minimum, PAGE.maximum);

const Limit = v.pipe(
  v.string(LIMIT_MESSAGE),
  v.regex(/^[1-9]\d{0,3}$/, LIMIT_MESSAGE),
  v.transform(Number),
  v.minValue(PAGE.minimum, LIMIT_MESSAGE),
  v.maxValue(PAGE.maximum, LIMIT_MESSAGE),
  v.metadata({ type: 'integer', format: 'int32', minimum: PAGE.minimum, maximum: PAGE.maximum }),
);

/**
 * Returns the `cursor` of the page after the item with this id: the id as 8 bytes in base64url (RFC 4648 section 5). All
 * lists are sorted by id, so a cursor is a position in all of them. The length is fixed, so that a truncated cursor is
 * invalid instead of another position.
 */
export function encodeCursor(id: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(id);
  return bytes.toString('base64url');
}

const CURSOR_MESSAGE = 'must be unchanged from the Link header of a page';

/** Schema of a cursor. The parsed value is the id of the last item on the previous page. */
const Cursor = v.pipe(
  v.string(CURSOR_MESSAGE),
  v.regex(/^[\w-]{11}$/, CURSOR_MESSAGE),
  v.transform((cursor) => Buffer.from(cursor, 'base64url').readBigInt64BE()),
  v.minValue(1n, CURSOR_MESSAGE),
  v.metadata({ type: 'string', minLength: 11, maxLength: 11 }),
);

type ListProps = Pick<Collection, 'filters' | 'filterCombinations'>;

/** A page that a client requests. The query also contains the values of filters by name. */
export type ListQuery = { limit: number; cursor?: bigint };

/** Returns the schema of a list's query. The schema rejects repeated parameters, because their values are arrays. */
export function listQuery<const C extends ListProps>(list: C) {
  const filters: C['filters'] = list.filters;
  const combinations = list.filterCombinations.map((names) => names.join(' and '));
  return v.pipe(
    v.object({
      limit: v.pipe(
        v.optional(Limit, PAGE.default.toString()),
        v.description('Maximum number of items in the response.'),
        v.examples([2]),
      ),
      ...filters,
      cursor: v.pipe(
        v.exactOptional(Cursor),
        v.description('Opaque position of the page, from the `Link` header of the previous page.'),
      ),
    }),
    v.check(
      (query) => indexOf(list, query) !== undefined,
      `Filters can be combined only as follows: ${combinations.join('; ') || 'none'}`,
    ),
  );
}

/** Returns the path and query of the page after the item with the id `last`, for the `Link` header. */
export function nextPage(
  { path, filters }: ListProps & Pick<Collection, 'path'>,
  query: ListQuery,
  last: bigint,
): string {
  const parameters = new URLSearchParams({ limit: `${query.limit}` });
  for (const [name, value] of filterValues(filters, query)) parameters.set(name, String(value));
  parameters.set('cursor', encodeCursor(last));
  return `${path}?${parameters.toString()}`;
}

/** An index of a list with the sort key `id`. It contains the items that have a value for each of its filters. */
export interface ListIndex {
  indexName: string;
  filters: readonly string[];
  /** Attribute with the partition key: a field if there is one filter, or else an attribute that only indexes use. */
  partitionKey: string;
}

/** Returns the indexes of a collection: one without filters, one for each filter and one for each combination. */
export function listIndexes({ filters, filterCombinations }: ListProps): ListIndex[] {
  const single = Object.keys(filters).map((name) => [name]);
  return [[], ...single, ...filterCombinations].map((names) => {
    const joined = names.join('-and-');
    return {
      indexName: joined ? `newest-by-${joined}` : 'newest',
      filters: names,
      partitionKey: joined || 'list',
    };
  });
}

/** Returns the index that serves a list with the filters of a query, or undefined if there is none. */
export function indexOf(list: ListProps, query: object): ListIndex | undefined {
  const sent = new Set(filterValues(list.filters, query).map(([name]) => name));
  return listIndexes(list).find(({ filters }) => sent.symmetricDifference(new Set(filters)).size === 0);
}

/**
 * Returns the value of an index's partition key for an item or a query: a constant without filters, the field's value
 * for one filter, or else the joined values, such as `crime#7`.
 */
export function partitionKeyValue({ filters }: ListIndex, values: object): unknown {
  const present = filters.map((name) => values[name as keyof typeof values] as unknown);
  if (present.length === 0) return 'all';
  return present.length === 1 ? present[0] : present.join('#');
}

/**
 * Returns the keys of the indexes that contain an item: `list`, the fields with filters, and the joined values of
 * combinations. An operation that changes a field of a combination must also write the combination's key, or remove it if
 * a field is absent.
 */
export function indexKeys(indexes: ListIndex[], item: object): Record<string, unknown> {
  const keys = indexes
    .filter(({ filters }) => filters.every((name) => name in item))
    .map((index) => [index.partitionKey, partitionKeyValue(index, item)]);
  return Object.fromEntries(keys);
}

function filterValues(filters: v.ObjectEntries, query: object): [name: string, value: unknown][] {
  return Object.entries(query).filter(([name]) => name in filters);
}
