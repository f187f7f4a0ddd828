import * as fc from 'fast-check';

// Pets in JSON, in all the ways in which JSON can be written.

/** What a client means by a pet. */
export interface Content {
  name: string;
  categoryId: bigint;
  status?: string;
}

export type Member = [name: string, json: string];

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

/** A string in JSON with every n-th UTF-16 unit as an escape. */
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

/** How a string, and an integer, may be written in JSON. */
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

export const goodMembers = fc
  .tuple(goodContent, stringSpelling, integerSpelling)
  .map(([content, spell, spellInteger]) => {
    const { name, categoryId, status } = content;
    const members: Member[] = [
      ['name', spell(name)],
      ['categoryId', spellInteger(categoryId)],
    ];
    if (status !== undefined) members.push(['status', spell(status)]);
    return { content, members };
  });

export function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

/** A member that the service ignores. */
const otherMember: fc.Arbitrary<Member> = fc.tuple(
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

/** An object with these members in any order, and others between them. Members that they overrule come first. */
export function objectOf(members: Member[], overruled: Member[] = []): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.subarray(overruled),
      fc
        .array(otherMember, { maxLength: 3 })
        .map((others) => [...members, ...others])
        .chain((all) => fc.shuffledSubarray(all, { minLength: all.length })),
      fc.constantFrom('', '', ' ', '\r\n\t'),
    )
    .map(([before, after, space]) => {
      const written = [...before, ...after].map(
        ([name, json]) => `${space}${JSON.stringify(name)}${space}:${space}${json}${space}`,
      );
      return `${space}{${written.join(',')}}`;
    });
}
