import * as v from 'valibot';
import type { Collection } from './collection.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { EXAMPLE_IDS, integerTextMessage } from './fields.ts';
import { PAGE } from './limits.ts';

const LIMIT_MESSAGE = integerTextMessage(PAGE.minimum, PAGE.maximum);

const Limit = v.pipe(
  v.string(LIMIT_MESSAGE),
  v.regex(/^[1-9]\d{0,3}$/, LIMIT_MESSAGE),
  v.transform(Number),
  v.minValue(PAGE.minimum, LIMIT_MESSAGE),
  v.maxValue(PAGE.maximum, LIMIT_MESSAGE),
  v.metadata({ type: 'integer', format: 'int32', minimum: PAGE.minimum, maximum: PAGE.maximum }),
);

const CURSOR_MESSAGE = 'must be unchanged from the Link header of a page of this list with the same filters';

const Cursor = v.pipe(
  v.string(CURSOR_MESSAGE),
  v.regex(/^[\w-]{1,64}$/, CURSOR_MESSAGE),
  v.metadata({ type: 'string', minLength: 1, maxLength: 64 }),
);

type ListProps = Pick<Collection, 'path' | 'plural' | 'filters' | 'filterCombinations' | 'cursorPrefix'>;

/** A page that a client requests. `cursor` is the id of the last item of the previous page. */
export interface ListQuery {
  limit: number;
  filters: Record<string, unknown>;
  cursor?: bigint;
}

/** Returns the schema of a list's query. The schema rejects repeated parameters, because their values are arrays. */
export function listQuery<const C extends ListProps>(list: C) {
  const filters: C['filters'] = list.filters;
  // The examples use the last combination whose filters clients can send. A later combination can contain a filter that
  // clients cannot send yet, because its index is deployed before the filter.
  const sendable = list.filterCombinations.findLast((combination) =>
    combination.every((name) => name in filters),
  );
  const exampleFilters: any = Object.fromEntries(
    sendable!.map((name) => [name, v.getExamples(filters[name] as never)[0]]),
  );
  const examplePage = { limit: EXAMPLE_IDS.length, ...exampleFilters };
  const nextCursor = encodeCursor(list.cursorPrefix, EXAMPLE_IDS[1], exampleFilters);
  return v.pipe(
    v.object({
      limit: v.pipe(
        v.optional(Limit, PAGE.default.toString()),
        v.description(`Maximum number of ${list.plural} in the response.`),
      ),
      ...filters,
      cursor: v.pipe(
        v.exactOptional(Cursor),
        v.description(
          'Opaque position of the page, from the `Link` header of the previous page. Valid only for the same list and filters.',
        ),
      ),
    }),
    // The first example is the first page, and the second is the next page. The parameters in the OpenAPI document have
    // only the values of the first example, because tools send examples, and the cursor of the second would skip items.
    v.examples([examplePage, { ...examplePage, cursor: nextCursor }]),
    v.rawTransform(({ dataset: { value }, addIssue }): ListQuery => {
      const input = value as { limit: number; cursor?: string } & Record<string, unknown>;
      const { limit, cursor: sent, ...sentFilters } = input;
      const reject = (key: string, message: string) =>
        addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value: input[key] }] });

      if (!list.filterCombinations.some((names) => hasExactly(sentFilters, names))) {
        const supported = list.filterCombinations.map((names) => names.join(' and ')).filter(Boolean);
        const message = `must be part of a supported combination of filters (${supported.join('; ')})`;
        reject(Object.keys(sentFilters).at(-1)!, message);
      }
      const cursor = sent === undefined ? undefined : decodeCursor(list.cursorPrefix, sent, sentFilters);
      if (sent !== undefined && cursor === undefined) reject('cursor', CURSOR_MESSAGE);
      return { limit, filters: sentFilters, ...(cursor !== undefined && { cursor }) };
    }),
  );
}

/** Returns the path and query of the page after the item with the id `last`, for the `Link` header. */
export function nextPage(list: ListProps, { limit, filters }: ListQuery, last: bigint): string {
  const query = new URLSearchParams({ limit: `${limit}` });
  for (const [name, value] of Object.entries(filters)) query.set(name, String(value));
  query.set('cursor', encodeCursor(list.cursorPrefix, last, filters));
  return `${list.path}?${query.toString()}`;
}

/** Returns whether the names of the filters are exactly the given names, in any order. */
export function hasExactly(filters: object, names: readonly string[]): boolean {
  return Object.keys(filters).length === names.length && names.every((name) => name in filters);
}
