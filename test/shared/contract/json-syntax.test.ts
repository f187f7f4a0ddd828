import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { findJsonError } from '../../../shared/contract/json-syntax.ts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('findJsonError', () => {
  test.each([
    ['', 'line 1, column 1: expected a value, not the end of the text'],
    ['{a:1}', `line 1, column 2: expected a name in double quotes or '}', not 'a'`],
    ['{"a" 1}', `line 1, column 6: expected a colon, not '1'`],
    ['{"a":}', `line 1, column 6: expected a value, not '}'`],
    ['{"a":1 "b"', `line 1, column 8: expected a comma or '}', not '"'`],
    ['{"a":1,}', `line 1, column 8: expected a name in double quotes, not '}'`],
    ['{"a":[]]', `line 1, column 8: expected a comma or '}', not ']'`],
    ['[,', `line 1, column 2: expected a value or ']', not ','`],
    ['[1,]', `line 1, column 4: expected a value, not ']'`],
    ['{}{', `line 1, column 3: expected the end of the text, not '{'`],
    ['01', `line 1, column 2: expected the end of the text, not '1'`],
    ['"a', 'line 1, column 3: expected a closing double quote or a valid escape, not the end of the text'],
    ['"\\u12"', String.raw`line 1, column 2: expected a closing double quote or a valid escape, not '\'`],
    ['"\n"', 'line 1, column 2: expected a closing double quote or a valid escape, not U+000A'],
    ['\ufeff{}', 'line 1, column 1: expected a value, not a byte order mark'],
    ['\u{1f415}', 'line 1, column 1: expected a value, not U+1F415'],
    ['[\r1,\r\n2,\n\n "\u{1f415}", "\u00e9"x', `line 5, column 10: expected a comma or ']', not 'x'`],
  ])('returns the position and cause of the first error in %j', (text, description) => {
    expect(isJson(text)).toBe(false);
    expect(findJsonError(text)).toBe(description);
  });

  test.each([
    ' null\t',
    '[true , false]\r\n',
    '[0,-0,-10,2.05,1e0,1E23,1.50e+23,1e-2]',
    String.raw`["", "\"\\\/\b\f\n\r\t\u00e9\uD83d"]`,
    '[" !#[]\x7f\u2028\ud800\uffff"]',
    '{"a":{"":[]},"b":[{},[[]]],"c":{}}',
  ])('returns undefined for %j', (text) => {
    expect(isJson(text)).toBe(true);
    expect(findJsonError(text)).toBeUndefined();
  });

  test('finds an error if and only if JSON.parse rejects the text', () => {
    const part = fc.oneof(
      fc.constantFrom(...Array.from('{}[]:,"\\/-+.019eEtux\t\n\f \0\u00a0\ufeff')),
      fc.constantFrom('null', 'true', '""', String.raw`\u00e9`, '1.5e-3', '\ud83d'),
    );
    const indent = fc.constantFrom('', '\t', ' ');
    const json = fc.tuple(fc.jsonValue(), indent).map(([value, by]) => JSON.stringify(value, null, by));
    const changed = fc
      .tuple(json, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), part), { maxLength: 3 }))
      .map(([text, changes]) =>
        changes.reduce((before, [place, removed, inserted]) => {
          const at = place % (before.length + 1);
          return `${before.slice(0, at)}${inserted}${before.slice(at + removed)}`;
        }, text),
      );
    const pieces = fc.array(part, { maxLength: 8 }).map((all) => all.join(''));
    fc.assert(
      fc.property(fc.oneof(changed, pieces), (text) => {
        expect(findJsonError(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('finds errors in deeply nested and very long texts', () => {
    expect(findJsonError('['.repeat(1_000_000))).toMatch(/^line 1, column 1000001: expected a value or '\]'/);
    expect(findJsonError(`"${String.raw`a\n`.repeat(100_000)}`)).toMatch(/^line 1, column 300002: /);
  });
});
