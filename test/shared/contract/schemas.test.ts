import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { IdempotencyKey, ListPetsQuery, NewPet, PetIdParameter } from '../../../shared/contract/schemas.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const DOG = '\u{1f415}';
const rex = { name: 'Rex', categoryId: 7n };

/** The field and the message of every complaint. */
function complaints(schema: v.GenericSchema, input: unknown): [string | undefined, string][] {
  const { issues = [] } = v.safeParse(schema, input, { abortPipeEarly: true });
  return issues.map((issue) => [v.getDotPath(issue) ?? undefined, issue.message]);
}

/** As a string of structured fields (RFC 9651 section 4.1.6). */
function quoted(key: string): string {
  return `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

describe('a new pet', () => {
  test('is taken as sent, without the members that it does not have', () => {
    const sent = {
      ...rex,
      name: ' Rex ',
      status: 'sold',
      id: 5n,
      creation: 'mine',
      partition: '3',
      owner: 'Ann',
    };
    expect(v.parse(NewPet, sent)).toEqual({ name: ' Rex ', categoryId: 7n, status: 'sold' });
  });

  test('without a status has none', () => {
    expect(Object.keys(v.parse(NewPet, rex))).toEqual(['name', 'categoryId']);
  });

  describe('has a name', () => {
    test.each([
      ['one character', 'R'],
      ['255 characters', 'R'.repeat(255)],
      ['255 characters beyond the first plane', DOG.repeat(255)],
      ['a character between white space', ' \t R \n'],
      ['a line break and a null character', 'R\n\0'],
    ])('of %s', (_what, name) => {
      expect(v.parse(NewPet, { ...rex, name })).toEqual({ ...rex, name });
    });

    test.each<[string, unknown]>([
      ['no characters', ''],
      ['256 characters', 'R'.repeat(256)],
      ['256 characters beyond the first plane', DOG.repeat(256)],
      ['white space alone', ' \t\n\u00a0\u2003\u0085\ufeff'],
      ['a high surrogate alone', 'Rex \ud83d'],
      ['a low surrogate alone', '\udc15 Rex'],
      ['surrogates in the wrong order', '\udc15\ud83d'],
      ['a number', 5n],
      ['null', null],
      ['an array', ['Rex']],
      ['an object', { toString: 'Rex' }],
    ])('and not of %s', (_what, name) => {
      expect(complaints(NewPet, { ...rex, name })).toEqual([
        ['name', 'must be a string of 1 to 255 characters, not all white space, in well-formed Unicode'],
      ]);
    });
  });

  describe('has a category', () => {
    test.each([INT64_MIN, -1n, 0n, 2n ** 53n + 1n, INT64_MAX])('%s', (categoryId) => {
      expect(v.parse(NewPet, { ...rex, categoryId })).toEqual({ ...rex, categoryId });
    });

    test.each([INT64_MIN - 1n, INT64_MAX + 1n, 5, 5.5, Infinity, '5', '', true, null, [5n]])(
      'that is not %p',
      (categoryId) => {
        expect(complaints(NewPet, { ...rex, categoryId })).toEqual([
          ['categoryId', 'must be an integer from -9223372036854775808 to 9223372036854775807'],
        ]);
      },
    );
  });

  describe('has a status', () => {
    test.each(['available', 'pending', 'sold'])('%s', (status) => {
      expect(v.parse(NewPet, { ...rex, status })).toEqual({ ...rex, status });
    });

    test.each([null, '', 'Sold', 'sold ', 'adopted', 'toString', ['sold'], 1n])(
      'that is not %p',
      (status) => {
        expect(complaints(NewPet, { ...rex, status })).toEqual([
          ['status', expect.stringContaining('available, pending, sold')],
        ]);
      },
    );
  });

  test('is told all that is wrong with it at once', () => {
    expect(complaints(NewPet, { name: '', status: 'gone' }).map(([field]) => field)).toEqual([
      'name',
      'categoryId',
      'status',
    ]);
  });
});

describe('the Idempotency-Key', () => {
  const visible = fc.stringMatching(/^[!-~]{1,255}$/);
  test('is any visible ASCII characters, and the same in quotes', () => {
    fc.assert(
      fc.property(visible, (key) => {
        expect(v.parse(IdempotencyKey, quoted(key))).toBe(key);
        fc.pre(!key.startsWith('"'));
        expect(v.parse(IdempotencyKey, key)).toBe(key);
      }),
    );
  });

  test('is read back from one spelling or the other, and is nothing else', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', '\\', 'a', ' ') }));
    fc.assert(
      fc.property(text, (sent) => {
        const { success, output } = v.safeParse(IdempotencyKey, sent);
        const isKey =
          /^[!-~]{1,255}$/.test(String(output)) && [output, quoted(String(output))].includes(sent);
        expect(success).toBe(success && isKey);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['255 characters', 'a'.repeat(255)],
    ['255 characters in quotes', `"${'a'.repeat(255)}"`],
    ['255 characters, each of them escaped', `"${String.raw`\"`.repeat(255)}"`],
    ['a quote inside', 'a"b"'],
    ['a backslash without quotes', String.raw`\a`],
  ])('may be %s', (_what, sent) => {
    expect(v.is(IdempotencyKey, sent)).toBe(true);
  });

  test.each<[string, unknown]>([
    ['nothing', ''],
    ['an empty string', '""'],
    ['256 characters', 'a'.repeat(256)],
    ['256 characters in quotes', `"${'a'.repeat(256)}"`],
    ['a quote that does not close', '"a'],
    ['a quote alone', '"'],
    ['a quote that an escape keeps open', String.raw`"a\"`],
    ['more behind the quotes', '"a"b'],
    ['parameters behind the quotes', '"a";b=1'],
    ['two strings', '"a", "b"'],
    ['an escape of anything else', String.raw`"\a"`],
    ['a space', 'a b'],
    ['a space in quotes', '"a b"'],
    ['a line break at the end', 'a\n'],
    ['a line break behind the quotes', '"a"\n'],
    ['a control character', 'a\x7f'],
    ['an accent', 'caf\u00e9'],
    ['several values', ['a', 'b']],
    ['a number', 5n],
  ])('may not be %s', (_what, sent) => {
    expect(complaints(IdempotencyKey, sent)).toEqual([
      [
        undefined,
        'must be 1 to 255 visible ASCII characters without spaces, bare or in double quotes, given once',
      ],
    ]);
  });
});

describe('petId in the path', () => {
  test('is any int64 in plain decimal', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), (id) => {
        expect(v.parse(PetIdParameter, id.toString())).toBe(id);
      }),
    );
  });

  test('is nothing that would be written otherwise', () => {
    const spelling = fc.oneof(fc.string(), fc.stringMatching(/^[-+0]?\d{1,20}(?:\.0)?\n?$/));
    fc.assert(
      fc.property(spelling, (text) => {
        const { success, output } = v.safeParse(PetIdParameter, text);
        expect(!success || output.toString() === text).toBe(true);
      }),
    );
  });
});

describe('the query of a list', () => {
  test('asks for 20 pets unless told otherwise', () => {
    expect(v.parse(ListPetsQuery, {})).toEqual({ limit: 20 });
  });

  test('takes every limit from 1 to 100 and no other', () => {
    fc.assert(
      fc.property(fc.integer({ min: -200, max: 300 }), (limit) => {
        expect(v.is(ListPetsQuery, { limit: limit.toString() })).toBe(limit >= 1 && limit <= 100);
      }),
    );
    expect(v.parse(ListPetsQuery, { limit: '1' })).toEqual({ limit: 1 });
    expect(v.parse(ListPetsQuery, { limit: '100' })).toEqual({ limit: 100 });
  });
});
