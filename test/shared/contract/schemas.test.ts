import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { INT64, MAX_NAME_CHARACTERS } from '../../../shared/contract/limits.ts';
import { ListPetsQuery } from '../../../shared/contract/list-query.ts';
import { IdempotencyKey, NewPet, PetIdParameter, PetStatus, text } from '../../../shared/contract/schemas.ts';
import { petWithoutStatus } from '../../support/sample.ts';

const DOG = '\u{1f415}';

function validationErrors(schema: v.GenericSchema, input: unknown): [string | undefined, string][] {
  const { issues = [] } = v.safeParse(schema, input, { abortPipeEarly: true });
  return issues.map((issue) => [v.getDotPath(issue) ?? undefined, issue.message]);
}

/** Returns `key` as a structured-field string, in quotes and with escapes (RFC 9651 section 4.1.6). */
function quoted(key: string): string {
  return `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

describe('NewPet', () => {
  test.each<[string, unknown]>([
    ['name', 'R'],
    ['name', DOG.repeat(MAX_NAME_CHARACTERS)],
    ['name', ' \t R\n\0'],
    ['categoryId', INT64.minimum],
    ['categoryId', INT64.maximum],
  ])('accepts the %s %j', (field, value) => {
    expect(v.parse(NewPet, { ...petWithoutStatus, [field]: value })).toEqual({
      ...petWithoutStatus,
      [field]: value,
    });
  });

  const textMessage = `must be a string of 1 to ${MAX_NAME_CHARACTERS} well-formed Unicode characters, not all of them white space`;
  const categoryId = 'must be an integer from -9223372036854775808 to 9223372036854775807';
  const status = `must be one of ${PetStatus.options.join(', ')}`;
  const tooLong = DOG.repeat(MAX_NAME_CHARACTERS + 1);

  test.each<[string, string, unknown[]]>([
    ['name', textMessage, ['', tooLong, ' \t\n\u00a0\u2003\u0085\ufeff', 'Rex \ud83d', 5n]],
    ['categoryId', categoryId, [INT64.minimum - 1n, INT64.maximum + 1n, 5, 5.5, '5', null]],
    ['status', status, ['Sold', '', null, ['sold']]],
  ])('rejects an invalid %s with the message "%s"', (field, message, values) => {
    const errors = values.map((value) => validationErrors(NewPet, { ...petWithoutStatus, [field]: value }));
    expect(errors).toEqual(values.map(() => [[field, message]]));
  });
});

test('a text schema limits the number of code points, accepts blank text and rejects lone surrogates', () => {
  const schema = text(500);
  expect(['', ' ', 'x', DOG.repeat(500)].filter((value) => !v.is(schema, value))).toEqual([]);
  expect([DOG.repeat(501), 'Rex \ud83d', '\udc15', 5n, null].filter((value) => v.is(schema, value))).toEqual(
    [],
  );
  expect(v.getMetadata(schema)).toMatchObject({ maxLength: 500 });
  const [issue] = v.safeParse(schema, null).issues!;
  expect(issue.message).toBe('must be a string of up to 500 well-formed Unicode characters');
});

test('the published pattern rejects only white space as a name, and the schema also rejects lone surrogates', () => {
  const contract = JSON.parse(readFileSync('openapi.json', 'utf8'));
  const { pattern } = contract.components.schemas.NewPet.properties.name;
  const patterns = [new RegExp(pattern), new RegExp(pattern, 'u')];
  const characters = Array.from({ length: 0x11_0000 }, (_, codePoint) => String.fromCodePoint(codePoint));
  const misjudged = characters.filter((character) => {
    const isName = !/^[\p{White_Space}\ufeff]$/u.test(character);
    const isAccepted = v.is(NewPet.entries.name, character);
    return (
      isAccepted !== (isName && character.isWellFormed()) ||
      patterns.some((published) => published.test(character) !== isName)
    );
  });
  expect(misjudged).toEqual([]);
});

describe('IdempotencyKey', () => {
  test('accepts visible ASCII characters with or without quotes', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[!-~]{1,255}$/), (key) => {
        expect(v.parse(IdempotencyKey, quoted(key))).toBe(key);
        fc.pre(!key.startsWith('"'));
        expect(v.parse(IdempotencyKey, key)).toBe(key);
      }),
    );
  });

  test('accepts spaces only in quotes', () => {
    const keys = [' ', ' a  b '];
    expect(keys.map((key) => v.parse(IdempotencyKey, quoted(key)))).toEqual(keys);
    expect(keys.filter((key) => v.is(IdempotencyKey, key))).toEqual([]);
  });

  test('accepts 255 characters even if all characters are escaped', () => {
    expect(v.is(IdempotencyKey, 'a'.repeat(255))).toBe(true);
    expect(v.is(IdempotencyKey, `"${String.raw`\"`.repeat(255)}"`)).toBe(true);
  });
});

test('PetIdParameter accepts any decimal int64', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: INT64.minimum, max: INT64.maximum }), (id) => {
      expect(v.parse(PetIdParameter, id.toString())).toBe(id);
    }),
  );
});

test.each<[string, v.GenericSchema, unknown[]]>([
  ['Idempotency-Key', IdempotencyKey, ['', 'a b', 'a\n', 'a\x7f', 'caf\u00e9', 'a'.repeat(256), ['a', 'b']]],
  ['quoted Idempotency-Key', IdempotencyKey, ['""', '"a', '"a"b"', '"a\t"', `"${'a'.repeat(256)}"`]],
  ['escape in an Idempotency-Key', IdempotencyKey, [String.raw`"a\"`, String.raw`"\a"`]],
  ['petId', PetIdParameter, ['+5', '5.0', '05', '-05', '-0', '5\n', ' 5', '', '\u0665', 5n]],
  ['petId', PetIdParameter, ['9223372036854775808', '-9223372036854775809', '9'.repeat(5_000)]],
  ['limit', ListPetsQuery.entries.limit, ['+5', '5.0', '05', '5\n', ' 5', '1e1', '']],
  ['status', ListPetsQuery.entries.status, ['Sold', 'sold,pending', '']],
  ['cursor', ListPetsQuery.entries.cursor, ['', '?', 'a b', 'MA==', 'a\n', 'a'.repeat(65), 5]],
])('an invalid %s is rejected', (_name, schema, values) => {
  expect(values.filter((value) => v.is(schema, value))).toEqual([]);
});
