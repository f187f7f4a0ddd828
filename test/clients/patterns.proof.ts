import { describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { componentSchemas } from '../../infra/documents/openapi/schema-objects.ts';
import type { Collection } from '../../shared/contract/collection.ts';
import { collections } from '../../shared/contract/operations.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { hasTools, requireTool } from '../support/tools.ts';

// Generated clients validate texts with the patterns in openapi.json. In dialects other than JavaScript's, a pattern can
// match texts that the service rejects, but must not reject valid texts. The JavaScript dialect is checked in
// test/shared/contract.

const folder = temporaryFolder();
const components: any = componentSchemas();
const codePoints = Array.from({ length: 0x11_0000 }, (_, codePoint) => codePoint);

/** Names of the fields with a pattern, their patterns, and the code points that are valid as a text of the field. */
const fields = collections
  .flatMap(({ schemas }: Collection) => Object.entries<any>(schemas))
  .flatMap(([schemaName, { entries = {} }]) =>
    Object.entries<v.GenericSchema>(entries).flatMap(([name, schema]) => {
      const { pattern } = components[schemaName].properties[name];
      if (!pattern) return [];
      const valid = codePoints.filter((codePoint) => v.is(schema, String.fromCodePoint(codePoint)));
      return [{ field: `${schemaName}.${name}`, pattern, valid }];
    }),
  );

/** Programs that print the code points that the pattern in their first argument does not match. */
const dialects: { name: string; file: string; check: string; run: string; program: string }[] = [
  {
    name: 'Python',
    file: 'p.py',
    check: 'python3 --version',
    run: 'python3 p.py',
    program: `import re, sys
print(*(c for c in range(0x110000) if not re.search(sys.argv[1], chr(c))))`,
  },
  {
    name: 'Java',
    file: 'P.java',
    check: 'javac --version',
    run: 'java P.java',
    program: `class P { public static void main(String[] a) { var p = java.util.regex.Pattern.compile(a[0]);
for (int c = 0; c < 0x110000; c++) if (!p.matcher(Character.toString(c)).find()) System.out.print(c + " "); } }`,
  },
  {
    name: 'Go',
    file: 'p.go',
    check: 'go version',
    run: 'go run p.go',
    program: `package main
import ("fmt"; "os"; "regexp")
func main() { p := regexp.MustCompile(os.Args[1])
for c := rune(0); c < 0x110000; c++ { if !p.MatchString(string(c)) { fmt.Print(c, " ") } } }`,
  },
  ...['', 'u'].map((flag) => ({
    name: `PHP with the flags "${flag}"`,
    file: `p${flag}.php`,
    check: `php -r 'mb_chr(1);'`,
    run: `php p${flag}.php`,
    program: `<?php for ($c = 0; $c < 0x110000; $c++)
if (mb_chr($c) !== false && !preg_match('/' . $argv[1] . '/${flag}', mb_chr($c))) echo $c, ' ';`,
  })),
  {
    name: '.NET',
    file: 'p.cs',
    check: 'mcs --version && mono --version',
    run: 'mcs -out:p.exe p.cs && mono p.exe',
    program: `class P { static void Main(string[] a) { var p = new System.Text.RegularExpressions.Regex(a[0]);
for (int c = 0; c < 0x110000; c++) if ((c < 0xd800 || c > 0xdfff) && !p.IsMatch(char.ConvertFromUtf32(c)))
System.Console.Write(c + " "); } }`,
  },
];

for (const { name, file, check, run, program } of dialects) {
  const isInstalled = spawnSync('sh', ['-c', check]).status === 0;
  (isInstalled ? describe : describe.skip)(`in ${name} (needs ${check})`, () => {
    test('the pattern of each field matches all valid characters', () => {
      writeFileSync(join(folder, file), program);
      const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 30 } as const;
      for (const { field, pattern, valid } of fields) {
        const printed = execFileSync('sh', ['-c', `${run} "$1"`, 'sh', pattern], options);
        const rejected = new Set(printed.trim().split(' ').map(Number));
        expect(rejected).toContain(0x20);
        const wrong = valid.filter((codePoint) => rejected.has(codePoint));
        expect({ field, wrong }).toEqual({ field, wrong: [] });
      }
    });
  });
}

(hasTools() ? describe : describe.skip)('in RE2 (needs npm ci --prefix test/tools)', () => {
  test('the pattern of each field matches all valid characters', () => {
    const { RE2JS } = requireTool('re2js');
    for (const { field, pattern, valid } of fields) {
      const published = RE2JS.compile(pattern);
      const matches = (codePoint: number) => published.matcher(String.fromCodePoint(codePoint)).find();
      expect(matches(0x20)).toBe(false);
      const wrong = valid.filter((codePoint) => !matches(codePoint));
      expect({ field, wrong }).toEqual({ field, wrong: [] });
    }
  });
});
