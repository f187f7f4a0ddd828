import { describe, expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { actions, options } from '../infra/operate/keys/arguments.ts';
import { proseOf } from './support/markdown-code.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const withoutGenerated = (text: string) => text.replaceAll(/<!-- generated[^]*?<!-- end -->/g, '');

/** Returns the anchors that GitHub generates for a document's headings. */
function anchorsOf(document: string): string[] {
  const headings =
    proseOf(document)
      .toLowerCase()
      .match(/(?<=^#+ ).+$/gm) ?? [];
  return headings.map((heading) => heading.replaceAll(/[^\w\s-]/g, '').replaceAll(' ', '-'));
}

const files = '{*,docs/*,.github/*,infra/**/*}.md';

test.each([
  [28_000, files],
  [580, 'README.md'],
  [2_200, 'CONTRIBUTING.md'],
  [2_000, 'docs/api-keys.md'],
  [3_200, 'docs/{architecture,decisions}.md'],
  [3_300, 'docs/{clients,interface}.md'],
  [900, 'docs/cost.md'],
  [1_340, 'docs/{multi-region,scaling}.md'],
  [1_410, 'docs/performance.md'],
  [1_800, 'docs/pipelines.md'],
  [1_800, 'docs/reliability.md'],
  [5_500, 'docs/runbook.md'],
  [1_370, 'docs/security.md'],
])('no more than %i words in %s are written by hand', (most, pattern) => {
  const words = globSync(pattern).flatMap((file) => withoutGenerated(read(file)).match(/\S+/g));
  expect(words.length).toBeLessThanOrEqual(most);
});

describe.each(globSync(files))('%s', (file) => {
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
    const links = Array.from(read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g));
    const missing = links.filter(([, path = '', anchor]) => {
      const target = path ? join(dirname(file), path) : file;
      return !existsSync(target) || (anchor && !anchorsOf(read(target)).includes(anchor));
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  test('has lines of up to 120 characters, paragraphs of up to six lines and no comments that split paragraphs', () => {
    const document = read(file);
    const paragraphs = proseOf(document).split(/\n\s*\n|\n(?=\s*(?:[-|#<[]|\d+\.))/);
    expect(document.split('\n').filter((line) => line.length > 120)).toEqual([]);
    expect(paragraphs.filter((text) => text.trim().split('\n').length > 6)).toEqual([]);
    // Markdown ends a paragraph before a line that starts with a comment.
    expect(document.match(/\S\n *<!--.*--> *\n? *[\w`*[(].*/g) ?? []).toEqual([]);
  });
});
