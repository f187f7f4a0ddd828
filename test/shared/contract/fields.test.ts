import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { enumeration, IdempotencyKey, IdParameter, text } from '../../../shared/contract/fields.ts';
import { INT64 } from '../../../shared/contract/limits.ts';

const DOG = '\u{1f415}';

test.each([
  [['red'], 'must be "red"'],
  [['red', 'blue'], 'must be "red" or "blue"'],
  [['red', 'blue', 'green'], 'must be "red", "blue" or "green"'],
])('the message of an enumeration of %j quotes the values', (values, message) => {
  expect(v.safeParse(enumeration(values), null).issues![0].message).toBe(message);
});

test('a text schema limits the number of code points, and accepts blank text', () => {
  const note = text(500);
  expect(['', ' ', '\n', DOG.repeat(500)].filter((value) => !v.is(note, value))).toEqual([]);
  expect([DOG.repeat(501), 5n, null].filter((value) => v.is(note, value))).toEqual([]);
  const [issue] = v.safeParse(note, null).issues!;
  expect(issue.message).toMatch(/^must be a string of up to 500 characters,/);
});

test('a text schema rejects U+FFFD and lone surrogates, which show that text was lost', () => {
  const note = text(500);
  expect(['\ufffd', 'caf\ufffd', 'x \ud83d', '\udc15'].filter((value) => v.is(note, value))).toEqual([]);
  expect(v.is(note, DOG)).toBe(true);
});

test('a text that must not be blank needs a character other than white space and control characters', () => {
  const title = text(100, { isBlankValid: false });
  // All white space and control characters are among these.
  const characters = Array.from({ length: 0x1_0000 }, (_, codePoint) => String.fromCodePoint(codePoint));
  // These are lone surrogates, and Unicode's white space and control characters. U+FEFF is added, because it is white space
  // in ECMA-262, and U+FFFD, because decoders insert it for invalid bytes.
  const invalid = /^[\p{White_Space}\p{Cc}\ufeff\ufffd]$|^[\ud800-\udfff]$/u;
  expect(characters.filter((one) => v.is(title, one) === invalid.test(one))).toEqual([]);
  expect(v.is(title, ' \n.\0')).toBe(true);
});

/** Returns `key` as a structured-field string, in quotes and with escapes (RFC 9651 section 4.1.6). */
function quoted(key: string): string {
  return `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

describe('the schema of an Idempotency-Key', () => {
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

test('an id in a URL can be any decimal int64', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: INT64.minimum, max: INT64.maximum }), (id) => {
      expect(v.parse(IdParameter, id.toString())).toBe(id);
    }),
  );
});

test.each<[string, v.GenericSchema, unknown[]]>([
  ['Idempotency-Key', IdempotencyKey, ['', 'a b', 'a\n', 'a\x7f', 'caf\u00e9', 'a'.repeat(256), ['a', 'b']]],
  ['quoted Idempotency-Key', IdempotencyKey, ['""', '"a', '"a"b"', '"a\t"', `"${'a'.repeat(256)}"`]],
  ['escape in an Idempotency-Key', IdempotencyKey, [String.raw`"a\"`, String.raw`"\a"`]],
  ['id', IdParameter, ['+5', '5.0', '05', '-05', '-0', '5\n', ' 5', '', '\u0665', 5n]],
  ['id', IdParameter, ['9223372036854775808', '-9223372036854775809', '9'.repeat(5_000)]],
])('an invalid %s is rejected', (_name, field, values) => {
  expect(values.filter((value) => v.is(field, value))).toEqual([]);
});
