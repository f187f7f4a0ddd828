import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { generateApiKey, isWellFormedApiKey } from '../shared/api-key-format.ts';
import { allFiles } from './support/project-copy.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

// With the rule in `.gitleaks.toml`, developers of this project and of clients can find API keys in their files.

const rules = readFileSync('.gitleaks.toml', 'utf8');
const document = readFileSync('docs/api-keys.md', 'utf8');
const pattern = /^regex = '''(.+)'''$/m.exec(rules)![1]!;
const folder = temporaryFolder();
const key = generateApiKey('staging');

function keysIn(text: string): string[] {
  return Array.from(text.matchAll(new RegExp(pattern, 'g')), ([, found]) => found!);
}

describe('the gitleaks rule', () => {
  test.each([
    ['finds a key at the end of a line', `the key is\n${key}\n`, [key]],
    ['finds a key in a URL', `https://example.com/?q=Bearer%20${key}&page=2`, [key]],
    ['finds a key in JSON within JSON', String.raw`"{\"note\":\"keys:\n${key}\n\"}"`, [key]],
    ['finds a key in Markdown', `_${key}_ and \`${key}\`.`, [key, key]],
    ['ignores a key without its last character', `"${key.slice(0, -1)}"`, []],
    ['ignores a key with an additional character', `"${key}0"`, []],
  ])('%s', (_what, text, found) => {
    expect(keysIn(text)).toEqual(found);
  });

  test('has keywords that each key contains', () => {
    const keywords = JSON.parse(/^keywords = (.+)$/m.exec(rules)![1]!) as string[];
    for (const keyword of keywords) expect(key).toContain(keyword);
  });

  test('has the documented regular expression, which RE2 supports', () => {
    expect(document).toContain(`\n${pattern}\n`);
    // https://github.com/google/re2/wiki/Syntax
    expect(pattern).not.toMatch(/\(\?(?!:)|\\[1-9]/);
  });
});

test('the checksum of a key follows the documented algorithm', () => {
  const [, digits = ''] = /The digits are\s+`(\w{62})`/.exec(document)!;
  for (const sample of Array.from({ length: 100 }, () => generateApiKey('production'))) {
    const sum = crc32(sample.slice(0, -6));
    const places = [5, 4, 3, 2, 1, 0].map((place) => digits[Math.floor(sum / 62 ** place) % 62]);
    expect(sample.slice(-6)).toBe(places.join(''));
  }
});

/** Returns whether a file contains a key in ASCII or UTF-16, on one line or split over several lines. */
function containsKey(file: string): boolean {
  const text = readFileSync(file, 'latin1').replaceAll('\0', '');
  // Languages continue a text on the next line with characters such as a backslash, or with quotes and a plus. Without
  // these characters, the parts of a key are adjacent.
  const joined = text.replaceAll(/["'`+\\\s]*\n[\s"'`+]*/g, '');
  return [text, joined].some((reading) =>
    Array.from(reading.matchAll(/(?=(pets_([a-z]+)_[0-9A-Za-z]{36}))/g)).some(([, found, stage]) =>
      isWellFormedApiKey(stage!, found!),
    ),
  );
}

test('no file in this project contains a key of any stage', () => {
  const other = generateApiKey('elsewhere');
  const planted = [
    ['key.bin', Buffer.from(`\0\xFF${other}`, 'latin1')],
    ['utf-16.txt', Buffer.from(`\uFEFFAPI_KEY=${other}\r\n`, 'utf16le')],
    ['split.sh', Buffer.from(`API_KEY=${other.slice(0, 20)}\\\n${other.slice(20)}\necho\n`)],
    ['split.js', Buffer.from(`const key = '${other.slice(0, 30)}' +\r\n  '${other.slice(30)}';\n`)],
  ] as const;
  const files = planted.map(([name, content]) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  });
  expect([...allFiles(), ...files].filter(containsKey)).toEqual(files);
});
