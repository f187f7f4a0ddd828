import * as fc from 'fast-check';

// Pets in JSON, in all the ways in which JSON can be written.

/** What a client means by a pet. */
export interface Content {
  name: string;
  categoryId: bigint;
  status?: string;
}

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;
export const MOST_CHARACTERS = 255;
export const statuses = ['available', 'pending', 'sold'];

const goodName = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: MOST_CHARACTERS }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.constantFrom('Rex', '\0x', String.raw`\"`, '__proto__', 'a\u2028b', '\u202eRex ', '😀'.repeat(255)),
  )
  .map((name) => Array.from(name).slice(0, MOST_CHARACTERS).join(''))
  .filter((name) => /[^\p{White_Space}\uFEFF]/u.test(name));

const goodContent: fc.Arbitrary<Content> = fc.record(
  {
    name: goodName,
    categoryId: fc.oneof(
      fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
      fc.constantFrom(0n, 5n, -10n, 2n ** 53n + 1n, INT64_MIN, INT64_MAX),
    ),
    status: fc.constantFrom(...statuses),
  },
  { requiredKeys: ['name', 'categoryId'] },
);

/** How a string may be written in JSON. */
const stringSpelling = fc.constantFrom(
  JSON.stringify,
  (text: string) => spellUnits(text, () => true),
  (text: string) => spellUnits(text, (index) => index % 2 === 0),
);

export function spellUnits(text: string, isEscaped: (index: number) => boolean): string {
  const units = text
    .split('')
    .map((unit, index) =>
      isEscaped(index)
        ? String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
        : JSON.stringify(unit).slice(1, -1),
    );
  return `"${units.join('')}"`;
}

/** How an integer may be written in JSON. */
const integerSpelling = fc.constantFrom<((integer: bigint) => string)[]>(
  (integer) => `${integer}`,
  (integer) => `${integer}.0`,
  (integer) => `${integer}.${'0'.repeat(300)}`,
  (integer) => `${integer}e0`,
  (integer) => `${integer * 100n}E-2`,
  (integer) => `${integer}`.replace(/\d$/, '.$&e+01').replace(/^(-?)\./, '$10.'),
);

export type Member = [name: string, json: string];

/** What is no member of a pet; the interface says that it is ignored. */
const otherMember: fc.Arbitrary<Member> = fc.tuple(
  fc
    .oneof(
      fc.string({ unit: 'binary', maxLength: 10 }),
      fc.constantFrom(
        '',
        'id',
        'Name',
        'STATUS',
        'creation',
        'partition',
        '__proto__',
        'constructor',
        'toString',
      ),
    )
    .filter((name) => !['name', 'categoryId', 'status'].includes(name)),
  fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.constantFrom('1e400', '-1e-999', '9'.repeat(400), String.raw`"\ud800"`, '{"name":null}'),
    fc.integer({ min: 1, max: 200 }).map((depth) => nested(depth)),
  ),
);

export function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

/** The members of a pet in JSON, each written in one of the ways there are. */
export const goodMembers = fc
  .tuple(goodContent, stringSpelling, integerSpelling)
  .map(([content, spell, spellInteger]) => {
    const { name, categoryId, status } = content;
    const members: Member[] = [
      ['name', spell(name)],
      ['categoryId', spellInteger(categoryId)],
      ...(status === undefined ? [] : [['status', spell(status)] satisfies Member]),
    ];
    return { content, members };
  });

/** An object with these members in any order; others may stand between them, and ones that they overrule before. */
export function objectOf(members: Member[], overruled: Member[] = []): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.subarray(overruled),
      fc.array(otherMember, { maxLength: 3 }).chain((others) => shuffled([...members, ...others])),
      fc.constantFrom('', '', ' ', '\r\n\t'),
    )
    .map(([before, after, space]) => {
      const written = [...before, ...after].map(
        ([name, json]) => `${space}${JSON.stringify(name)}${space}:${space}${json}${space}`,
      );
      return `${space}{${written.join(',')}}`;
    });
}

function shuffled<T>(items: T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray(items, { minLength: items.length });
}
