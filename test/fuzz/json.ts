import * as fc from 'fast-check';
import { stringifyJson } from '../../shared/contract/json.ts';
import { MAX_NAME_CHARACTERS } from '../../shared/contract/limits.ts';
import { createFields, requiredFields, valuesOf } from './documented.ts';

// Generates valid fields of a resource, and different JSON texts that represent the same fields.

export type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** Fields of a resource except the id. */
export type Content = Record<string, any>;

export type Field = [name: string, json: string];

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;
export const statuses = ['available', 'pending', 'sold'];

const goodName = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: MAX_NAME_CHARACTERS }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.constantFrom('x', '\0x', String.raw`\"`, '__proto__', 'a\u2028b', '😀'.repeat(MAX_NAME_CHARACTERS)),
  )
  .map((name) => Array.from(name).slice(0, MAX_NAME_CHARACTERS).join(''))
  .filter((name) => /[^\p{White_Space}\uFEFF]/u.test(name));

const ownFields = {
  name: goodName,
  categoryId: fc.oneof(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), fc.constantFrom(0n, 1n)),
  status: fc.constantFrom(...statuses),
};
/** Fields without a generator in `ownFields`. The values that `valuesOf` generates for them can be invalid. */
const otherFields = createFields.filter(({ name }) => !(name in ownFields));
export const otherNames = otherFields.map(({ name }) => name);
const allFields = { ...ownFields, ...valuesOf(otherFields) };
export const requiredNames = [...new Set(['name', 'categoryId', ...requiredFields])];

const goodContent: fc.Arbitrary<Content> = fc.record(allFields, { requiredKeys: requiredNames as [] });

/** Returns `text` as a JSON string in which every UTF-16 code unit is escaped. */
export function escaped(text: string): string {
  const codes = text.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return `"${codes.map((code) => String.raw`\u${code}`).join('')}"`;
}

/** Functions that return equivalent JSON texts for a string. */
const stringSpelling = fc.constantFrom<((text: string) => string)[]>(JSON.stringify, escaped);
const integerSpelling = fc.constantFrom<((integer: bigint) => string)[]>(
  (integer) => `${integer}`,
  (integer) => `${integer}.${'0'.repeat(300)}`,
  (integer) => `${integer * 100n}E-2`,
  (integer) => `${integer}`.replace(/\d$/, '.$&e+01').replace(/^(-?)\./, '$10.'),
);

export const goodFields = fc
  .tuple(goodContent, stringSpelling, integerSpelling)
  .map(([content, spell, spellInteger]) => {
    const fields = Object.entries(content).map(([name, value]): Field => {
      if (typeof value === 'string') return [name, spell(value)];
      return [name, typeof value === 'bigint' ? spellInteger(value) : stringifyJson(value)];
    });
    return { content, fields };
  });

export function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

/** Unknown field, which the service must ignore. */
const otherField: fc.Arbitrary<Field> = fc.tuple(
  fc
    .oneof(
      fc.string({ unit: 'binary', maxLength: 10 }),
      fc.constantFrom('', 'id', 'STATUS', 'creation', 'partition', '__proto__', 'constructor', 'toString'),
    )
    .filter((name) => !Object.hasOwn(allFields, name)),
  fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.constantFrom('1e400', '-1e-999', '9'.repeat(400), String.raw`"\ud800"`, '{"name":null}'),
    fc.integer({ min: 1, max: 200 }).map(nested),
  ),
);

/** Generates JSON objects that begin with some `overridden` fields, followed by all `fields` and unknown fields. */
export function objectOf(fields: Field[], overridden: Field[] = []): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.subarray(overridden),
      fc
        .array(otherField, { maxLength: 3 })
        .map((others) => [...fields, ...others])
        .chain((all) => fc.shuffledSubarray(all, { minLength: all.length })),
      fc.constantFrom('', '', ' ', '\r\n\t'),
    )
    .map(([before, after, space]) => {
      const pairs = [...before, ...after].map(
        ([name, json]) => `${space}${JSON.stringify(name)}${space}:${space}${json}${space}`,
      );
      return `${space}{${pairs.join(',')}}`;
    });
}
