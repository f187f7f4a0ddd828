import { describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Operation } from '../../shared/contract/operation.ts';
import { operations } from '../../shared/contract/operations.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Generated clients and servers compile the patterns in openapi.json. These tests compile the patterns in several
// languages, and compare what they match with what the service accepts.

/** Characters beyond U+04FF that languages can treat in a special way, such as line ends, digits and white space. */
const special = '\u0660\u1680\u180e\u2000\u200b\u2028\u2029\u3000\ufeff\uff01\uff3b\ufffd\u{1f415}';
const common = Array.from({ length: 0x5_00 }, (_, codePoint) => String.fromCodePoint(codePoint));
const characters = [...common, ...Array.from(special)];
const lengths = [2, 64, 65, 254, 255, 256];

/**
 * Texts with each character at the start and later, with and without quotes and escapes, and with lengths around the
 * limits. Texts that end with a line end after another character are omitted, because `$` also matches before the line
 * end in Python, PHP and .NET (a line feed), and in Java (any line end). The omission hides nothing, because no valid
 * value contains a line end.
 */
const texts = [
  characters
    .flatMap((one) => [one, `a${one}`, `"${one}"`, `"a${one}"`])
    .filter((text) => !/.[\n\r\u0085\u2028\u2029]$/.test(text)),
  ['', '""', '"', '"a', '"a"b', '"a"b"', '""""', 'a b', '"a b"', '\na', '"a\nb"', 'a\u2028b'],
  lengths.flatMap((length) => ['x'.repeat(length), `"${'x'.repeat(length)}"`, `"${'\\"'.repeat(length)}"`]),
  [String.raw`"\\"`, String.raw`"\"`, String.raw`"\a"`, String.raw`\"a"`],
].flat();

const openapi = readFileSync('openapi.json', 'utf8');

/** The parameters that have a pattern in openapi.json, and which of `texts` the service accepts (by index). */
const published = Object.values<Operation>(operations).flatMap(({ path, method, request }) => {
  const { path: pathParameters, query, headers } = request as Record<string, any>;
  const schemas = { ...pathParameters?.entries, ...query?.entries, ...headers?.entries };
  const { parameters } = JSON.parse(openapi).paths[path.replace('/v1', '')][method.toLowerCase()];
  return parameters
    .filter(({ schema }: any) => schema.pattern !== undefined)
    .map(({ name, schema }: any): { name: string; pattern: string; accepted: number[] } => ({
      name,
      pattern: schema.pattern,
      accepted: texts.flatMap((text, index) => (v.is(schemas[name], text) ? [index] : [])),
    }));
});
const accepted = Object.fromEntries(published.map(({ name, accepted: indexes }) => [name, indexes]));

test('openapi.json has patterns only for parameters, which the tests below compare with the service', () => {
  expect(openapi.match(/"pattern": "/g)).toHaveLength(published.length);
});

test.each(['', 'u', 'v'])(
  'in JavaScript with the flags "%s", patterns match what the service accepts',
  (flags) => {
    const matched = published.map(({ name, pattern }) => {
      const compiled = new RegExp(pattern, flags);
      return [name, texts.flatMap((text, index) => (compiled.test(text) ? [index] : []))];
    });
    expect(Object.fromEntries(matched)).toEqual(accepted);
  },
);

/**
 * Programs that print the indexes of the texts that the pattern in their first argument matches. Each line of the file
 * `texts` has the code points of a text.
 */
const languages: { name: string; check: string; file: string; program: string; run: string }[] = [
  {
    name: 'Python',
    check: 'python3 --version',
    file: 'p.py',
    program: `import re, sys
for i, line in enumerate(open("texts")):
    if re.search(sys.argv[1], "".join(chr(int(c)) for c in line.split())): print(i)`,
    run: 'python3 p.py',
  },
  {
    name: 'Java',
    check: 'javac --version',
    file: 'P.java',
    program: `import java.nio.file.*;
class P { public static void main(String[] a) throws Exception {
  var pattern = java.util.regex.Pattern.compile(a[0]); int i = 0;
  for (var line : Files.readAllLines(Path.of("texts"))) {
    var text = new StringBuilder();
    for (var c : line.split(" ")) if (!c.isEmpty()) text.appendCodePoint(Integer.parseInt(c));
    if (pattern.matcher(text).find()) System.out.println(i);
    i++; } } }`,
    run: 'java P.java',
  },
  {
    name: 'Go',
    check: 'go version',
    file: 'p.go',
    program: `package main
import ("fmt"; "os"; "regexp"; "strconv"; "strings")
func main() {
  pattern := regexp.MustCompile(os.Args[1])
  content, _ := os.ReadFile("texts")
  for i, line := range strings.Split(strings.TrimSuffix(string(content), "\\n"), "\\n") {
    var text strings.Builder
    for _, c := range strings.Fields(line) { n, _ := strconv.Atoi(c); text.WriteRune(rune(n)) }
    if pattern.MatchString(text.String()) { fmt.Println(i) } } }`,
    run: 'go run p.go',
  },
  ...['', 'u'].map((flag) => ({
    name: `PHP with the flags "${flag}"`,
    check: `php -r 'mb_chr(1);'`,
    file: `p${flag}.php`,
    program: `<?php foreach (file('texts', FILE_IGNORE_NEW_LINES) as $i => $line) {
$text = implode('', array_map(fn($c) => mb_chr((int) $c), preg_split('/ /', $line, -1, PREG_SPLIT_NO_EMPTY)));
if (preg_match('/' . $argv[1] . '/${flag}', $text)) echo "$i\\n"; }`,
    run: `php p${flag}.php`,
  })),
];

const folder = temporaryFolder();

for (const { name: language, check, file, program, run } of languages) {
  const isInstalled = spawnSync('sh', ['-c', check]).status === 0;
  (isInstalled || process.env['CI'] === 'true' ? describe : describe.skip)(
    `in ${language} (needs ${check}),`,
    () => {
      test('patterns match what the service accepts', () => {
        const lines = texts.map((text) => Array.from(text, (one) => one.codePointAt(0)).join(' '));
        writeFileSync(join(folder, 'texts'), `${lines.join('\n')}\n`);
        writeFileSync(join(folder, file), program);
        const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 30 } as const;
        const matched = published.map(({ name, pattern }) => {
          const printed = execFileSync('sh', ['-c', `${run} "$1"`, 'sh', pattern], options);
          return [name, printed.trim().split('\n').map(Number)];
        });
        expect(Object.fromEntries(matched)).toEqual(accepted);
      });
    },
  );
}
