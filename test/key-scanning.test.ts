import { describe, expect, test } from '@jest/globals';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { generateApiKey, isWellFormedApiKey } from '../shared/storage/api-keys.ts';
import { stages } from '../infra/stages.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

// Scanners find keys in files by the rule in `.gitleaks.toml`, and nothing of this project is there to be found.

const stageNames = Object.keys(stages);
const root = fileURLToPath(new URL('..', import.meta.url));
const rules = readFileSync(`${root}.gitleaks.toml`, 'utf8');
const document = readFileSync(`${root}docs/api-keys.md`, 'utf8');
const pattern = /^regex = '''(.+)'''$/m.exec(rules)![1]!;

/** What the rule finds in a text. */
function keysIn(text: string): string[] {
  return Array.from(text.matchAll(new RegExp(pattern, 'g')), ([, key]) => key!);
}

/** Bits per character, which the rule asks for too, as gitleaks reckons them. */
function entropyOf(text: string): number {
  const counts = Map.groupBy(text, (character) => character)
    .values()
    .map(({ length }) => length);
  return counts.reduce((bits, count) => bits - (count / text.length) * Math.log2(count / text.length), 0);
}

describe('the rule for scanners', () => {
  describe.each(stageNames)('finds a key of %s', (stage) => {
    const key = generateApiKey(stage);

    test.each([
      ['alone', key, [key]],
      ['at the end of a line', `the key is\n${key}\n`, [key]],
      ['in quotes', `{"apiKey":"${key}"}`, [key]],
      ['as a variable', `API_KEY=${key} npm test`, [key]],
      ['in a header', `-H 'Authorization: Bearer ${key}'`, [key]],
      ['in an address', `https://example.com/?q=Bearer%20${key}&page=2`, [key]],
      ['in JSON within JSON', `"{\\"note\\":\\"keys:\\n${key}\\n\\"}"`.replaceAll('\n', '\\n'), [key]],
      ['in Markdown', `_${key}_ and \`${key}\`.`, [key, key]],
      ['twice in a row', `${key},${key}`, [key, key]],
    ])('%s', (_where, text, found) => {
      expect(keysIn(text)).toEqual(found);
    });

    test.each([
      ['a character less', key.slice(0, -1)],
      ['a character more', `${key}0`],
      ['one replaced by a sign', `${key.slice(0, -10)}-${key.slice(-9)}`],
      ['its prefix alone', `${key.slice(0, -36)}…`],
      ['another prefix', key.replace('pets', 'cats')],
    ])('and not with %s', (_what, text) => {
      expect(keysIn(`"${text}"`)).toEqual([]);
    });

    test('and not a placeholder, which varies too little', () => {
      const limit = Number(/^entropy = ([\d.]+)$/m.exec(rules)![1]);
      expect(entropyOf(key)).toBeGreaterThan(limit);
      expect(entropyOf(key.slice(0, -36) + 'x'.repeat(36))).toBeLessThan(limit);
    });

    test('by words that gitleaks looks for first', () => {
      const [, keywords = ''] = /^keywords = \[(.+)\]$/m.exec(rules)!;
      for (const keyword of JSON.parse(`[${keywords}]`)) expect(key).toContain(keyword);
    });
  });

  // https://github.com/google/re2/wiki/Syntax
  test('keeps to what RE2 understands', () => {
    expect(pattern).not.toMatch(/\(\?(?!:)|\\[1-9]/);
  });

  test('is the one that docs/api-keys.md states', () => {
    expect(document).toContain(`\n${pattern}\n`);
  });
});

describe('the checksum', () => {
  test.each(stageNames)('of a key of %s is what docs/api-keys.md says', (stage) => {
    const [, digits = ''] = /The digits are\s+`(\w{62})`/.exec(document)!;
    expect(document.replaceAll(/\s+/g, ' ')).toContain(
      'take the CRC-32 (the one of zip and PNG) of all characters before the last six, and write it as six digits to ' +
        'the base of 62, most significant first, with zeros in front.',
    );
    for (let sample = 0; sample < 100; sample += 1) {
      const key = generateApiKey(stage);
      const sum = crc32(key.slice(0, -6));
      const places = [5, 4, 3, 2, 1, 0].map((place) => digits[Math.floor(sum / 62 ** place) % 62]);
      expect(key.slice(-6)).toBe(places.join(''));
    }
  });
});

const ignored = new Set(['.git', ...readFileSync(`${root}.gitignore`, 'utf8').match(/^[\w.]+(?=\/$)/gm)!]);

/** The files below a folder that hold a key, but for folders that are ignored. */
function filesWithKeys(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ignored.has(entry.name) ? [] : filesWithKeys(path);
    return entry.isFile() && keysIn(readFileSync(path, 'latin1')).some(isKey) ? [path] : [];
  });
}

/** Whether a find is a key of whatever stage it names. */
function isKey(text: string): boolean {
  return isWellFormedApiKey(text.split('_')[1]!, text);
}

describe('a search of all files', () => {
  const folder = temporaryFolder();

  function write(name: string, text: string): string {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  test('finds every key, and what only looks like one not', () => {
    const key = generateApiKey('staging');
    const swapped = key.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const files = [
      write('notes.md', `Use \`${generateApiKey('elsewhere')}\`.`),
      write('test/deep/er.test.ts', `const key = '${swapped}' || '${key}';`),
      write('.github/.env', `API_KEY=${generateApiKey('production')}`),
      write('image.bin', Buffer.from([0, 255, 128]).toString('latin1') + key),
    ];
    write('example.md', swapped);
    write('node_modules/other.js', key);
    expect(filesWithKeys(folder).toSorted()).toEqual(files.toSorted());
  });

  test('finds no key in this project', () => {
    expect(filesWithKeys(root)).toEqual([]);
  });
});
