import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { ListPetsQuery, NewPet, PetIdParameter } from '../../shared/schemas.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const DOG = '\u{1f415}';
const rex = { name: 'Rex', categoryId: 7n };

/** The field and the message of every complaint. */
function complaints(schema: v.GenericSchema, input: unknown): [string | undefined, string][] {
  const { issues = [] } = v.safeParse(schema, input, { abortPipeEarly: true });
  return issues.map((issue) => [v.getDotPath(issue) ?? undefined, issue.message]);
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
