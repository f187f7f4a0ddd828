import * as v from 'valibot';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { PAGE } from './limits.ts';
import { type NewPet, PetStatus } from './schemas.ts';

/**
 * Query parameters that filter a list. A parameter selects the items whose field of the same name equals the parameter's
 * value. The section "Add a filter" in CONTRIBUTING.md explains how to add a parameter.
 */
const filterParameters = {
  status: v.pipe(
    v.exactOptional(v.picklist(PetStatus.options, `must be exactly one of ${PetStatus.options.join(', ')}`)),
    v.description('Returns only pets with this status.'),
    v.examples(['available']),
  ),
};

/**
 * Field that can be a filter: an enumeration or an integer. A text can be too long for the key of an index, and can contain
 * the separator between the values in the key.
 */
export type FilterField = Exclude<keyof NewPet, 'name'>;

/** Combinations of fields that a list can be filtered by. Each combination has an index. The first combination is empty. */
export const filterCombinations: readonly [[], ...FilterField[][]] = [[], ['status']];

const LIMIT_MESSAGE = `must be a single integer from ${PAGE.minimum} to ${PAGE.maximum}`;

const Limit = v.pipe(
  v.string(LIMIT_MESSAGE),
  v.regex(/^[1-9]\d{0,3}$/, LIMIT_MESSAGE),
  v.transform(Number),
  v.minValue(PAGE.minimum, LIMIT_MESSAGE),
  v.maxValue(PAGE.maximum, LIMIT_MESSAGE),
  v.metadata({ type: 'integer', format: 'int32', minimum: PAGE.minimum, maximum: PAGE.maximum }),
);

const CURSOR_MESSAGE = 'must be from a page of this list, or omitted';

const Cursor = v.pipe(
  v.string('must be a single value'),
  v.regex(/^[\w-]{1,64}$/, CURSOR_MESSAGE),
  v.metadata({ type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }),
);

/** Query parameters of `listPets`. The schema rejects repeated parameters, because their values are arrays. */
export const ListPetsQuery = v.pipe(
  v.object({
    limit: v.pipe(
      v.optional(Limit, PAGE.default.toString()),
      v.description('Maximum number of pets in the response.'),
    ),
    ...filterParameters,
    cursor: v.pipe(
      v.exactOptional(Cursor),
      v.description(
        "Opaque position of the page, from the `Link` header of the previous page. Valid only with that page's filters.",
      ),
    ),
  }),
  v.examples([
    { limit: 2, status: 'available', cursor: encodeCursor(244141843354535n, { status: 'available' }) },
  ]),
  v.rawTransform(({ dataset: { value: input }, addIssue }) => {
    const { limit, cursor: sent, ...filters } = input;
    const reject = (key: keyof typeof input, message: string) =>
      addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value: input[key] }] });

    if (!filterCombinations.some((fields) => hasExactly(filters, fields))) {
      const supported = filterCombinations.map((fields) => fields.join(' and ')).filter(Boolean);
      const message = `must be part of a supported combination of filters: ${supported.join(' or ')}`;
      reject(Object.keys(filters).at(-1) as keyof typeof filters, message);
    }
    const cursor = sent === undefined ? undefined : decodeCursor(sent, filters);
    if (sent !== undefined && cursor === undefined) reject('cursor', CURSOR_MESSAGE);
    return { limit, filters, ...(cursor !== undefined && { cursor }) };
  }),
);
export type ListPetsQuery = v.InferOutput<typeof ListPetsQuery>;

/** Checks whether the names of the filters are exactly the given fields. */
export function hasExactly(filters: object, fields: readonly string[]): boolean {
  return Object.keys(filters).length === fields.length && fields.every((field) => field in filters);
}
