import * as fc from 'fast-check';

// Generates pets and equivalent JSON texts for each pet.

export type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** Pet without an id. */
export interface Content {
  name: string;
  categoryId: bigint;
  status?: string;
}

export type Field = [name: string, json: string];

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;
export const MAX_CHARACTERS = 255;
export const statuses = ['available', 'pending', 'sold'];

const goodName = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: MAX_CHARACTERS }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.constantFrom('Rex', '\0x', String.raw`\"`, '__proto__', 'a\u2028b', '😀'.repeat(MAX_CHARACTERS)),
  )
  .map((name) => Array.from(name).slice(0, MAX_CHARACTERS).join(''))
  .filter((name) => /[^\p{White_Space}\uFEFF]/u.test(name));

const goodContent: fc.Arbitrary<Content> = fc.record(
  {
    name: goodName,
    categoryId: fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
    status: fc.constantFrom(...statuses),
  },
  { requiredKeys: ['name', 'categoryId'] },
);

/** Returns `text` as a JSON string in which every n-th UTF-16 code unit is escaped. */
export function escaped(text: string, n: number): string {
  const units = text
    .split('')
    .map((unit, index) =>
      index % n === 0
        ? String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
        : JSON.stringify(unit).slice(1, -1),
    );
  return `"${units.join('')}"`;
}

/** Functions that return equivalent JSON texts for a string. */
const stringSpelling = fc.constantFrom<((text: string) => string)[]>(
  (text) => JSON.stringify(text),
  (text) => escaped(text, 1),
  (text) => escaped(text, 2),
);
const integerSpelling = fc.constantFrom<((integer: bigint) => string)[]>(
  (integer) => `${integer}`,
  (integer) => `${integer}.${'0'.repeat(300)}`,
  (integer) => `${integer * 100n}E-2`,
  (integer) => `${integer}`.replace(/\d$/, '.$&e+01').replace(/^(-?)\./, '$10.'),
);

export const goodFields = fc
  .tuple(goodContent, stringSpelling, integerSpelling)
  .map(([content, spell, spellInteger]) => {
    const { name, categoryId, status } = content;
    const fields: Field[] = [
      ['name', spell(name)],
      ['categoryId', spellInteger(categoryId)],
    ];
    if (status !== undefined) fields.push(['status', spell(status)]);
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
    .filter((name) => !['name', 'categoryId', 'status'].includes(name)),
  fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.constantFrom('1e400', '-1e-999', '9'.repeat(400), String.raw`"\ud800"`, '{"name":null}'),
    fc.integer({ min: 1, max: 200 }).map(nested),
  ),
);

/** Generates objects that contain some `overridden` fields first, and then all `fields` in any order. */
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
