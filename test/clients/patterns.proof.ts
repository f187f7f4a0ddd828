import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { published, texts } from './patterns.ts';

// These tests compile the patterns in openapi.json as generated clients do in languages other than JavaScript.

const folder = temporaryFolder();

/**
 * Programs that print the indexes of the texts that the pattern in their first argument matches. Each line of the file
 * `texts` has the code points of a text.
 */
const languages: { name: string; check: string; files: Record<string, string>; run: string }[] = [
  {
    name: 'Python',
    check: 'python3 --version',
    files: {
      'p.py': `import re, sys
for i, line in enumerate(open("texts")):
    if re.search(sys.argv[1], "".join(chr(int(c)) for c in line.split())): print(i)`,
    },
    run: 'python3 p.py',
  },
  {
    name: 'Java',
    check: 'javac --version',
    files: {
      'P.java': `import java.nio.file.*;
class P { public static void main(String[] a) throws Exception {
  var pattern = java.util.regex.Pattern.compile(a[0]); int i = 0;
  for (var line : Files.readAllLines(Path.of("texts"))) {
    var text = new StringBuilder();
    for (var c : line.split(" ")) if (!c.isEmpty()) text.appendCodePoint(Integer.parseInt(c));
    if (pattern.matcher(text).find()) System.out.println(i);
    i++; } } }`,
    },
    run: 'java P.java',
  },
  {
    name: 'Go',
    check: 'go version',
    files: {
      'p.go': `package main
import ("fmt"; "os"; "regexp"; "strconv"; "strings")
func main() {
  pattern := regexp.MustCompile(os.Args[1])
  content, _ := os.ReadFile("texts")
  for i, line := range strings.Split(strings.TrimSuffix(string(content), "\\n"), "\\n") {
    var text strings.Builder
    for _, c := range strings.Fields(line) { n, _ := strconv.Atoi(c); text.WriteRune(rune(n)) }
    if pattern.MatchString(text.String()) { fmt.Println(i) } } }`,
    },
    run: 'go run p.go',
  },
  ...['', 'u'].map((flag) => ({
    name: `PHP with the flags "${flag}"`,
    check: `php -r 'mb_chr(1);'`,
    files: {
      [`p${flag}.php`]: `<?php foreach (file('texts', FILE_IGNORE_NEW_LINES) as $i => $line) {
$text = implode('', array_map(fn($c) => mb_chr((int) $c), preg_split('/ /', $line, -1, PREG_SPLIT_NO_EMPTY)));
if (preg_match('/' . $argv[1] . '/${flag}', $text)) echo "$i\\n"; }`,
    },
    run: `php p${flag}.php`,
  })),
];

beforeAll(() => {
  const lines = texts.map((text) => Array.from(text, (character) => character.codePointAt(0)).join(' '));
  writeFileSync(join(folder, 'texts'), `${lines.join('\n')}\n`);
});

for (const { name: language, check, files, run } of languages) {
  const isInstalled = spawnSync('sh', ['-c', check]).status === 0;
  (isInstalled ? describe : describe.skip)(`in ${language} (needs ${check})`, () => {
    test.each(published)('the pattern of $name matches what the service accepts', ({ pattern, accepted }) => {
      for (const [file, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), content);
      }
      const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 30 } as const;
      const printed = execFileSync('sh', ['-c', `${run} "$1"`, 'sh', pattern], options);
      expect(printed.trim().split('\n').map(Number)).toEqual(accepted);
    });
  });
}
