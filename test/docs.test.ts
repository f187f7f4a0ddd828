import { describe, expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { actions, options } from '../infra/operate/keys/arguments.ts';
import { proseOf } from './support/markdown-code.ts';

const read = (file: string) => readFileSync(file, 'utf8');

/** Returns the anchors that GitHub generates for a document's headings. */
function anchorsOf(document: string): string[] {
  const headings =
    proseOf(document)
      .toLowerCase()
      .match(/(?<=^#+ ).+$/gm) ?? [];
  return headings.map((heading) => heading.replaceAll(/[^\w\s-]/g, '').replaceAll(' ', '-'));
}

describe.each(globSync('{*,docs/**/*,.github/*,infra/**/*}.md'))('%s', (file) => {
  test('mentions only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const mentioned = Array.from(read(file).matchAll(/npm run ([\w:]+)/g), ([, script]) => script!);
    expect(mentioned.filter((script) => !(script in scripts))).toEqual([]);
  });

  test('mentions only existing actions and options of npm run keys', () => {
    for (const [, action, rest] of read(file).matchAll(/npm run (?:--silent )?keys -- (\w+)([^\n|`)]*)/g)) {
      expect(Object.keys(actions)).toContain(action);
      const names = rest!.match(/(?<=--)[a-z-]+/g) ?? [];
      expect(names.filter((name) => !(name in options))).toEqual([]);
    }
  });

  test('links only to documents and headings that exist', () => {
    const links = Array.from(
      read(file).matchAll(/(?:\]\(|(?:src|srcset)=")(?!https?:)([^)#"]*)(?:#([^)]+))?[)"]/g),
    );
    const missing = links.filter(([, path = '', anchor]) => {
      const target = path ? join(dirname(file), path) : file;
      return !existsSync(target) || (anchor && !anchorsOf(read(target)).includes(anchor));
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });
});

test('.ci/run runs the test command that README.md prints', () => {
  for (const file of ['README.md', '.ci/run']) expect(read(file).split('\n')).toContain('npm test');
});
