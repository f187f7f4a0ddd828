import { expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { proseOf } from '../support/markdown-code.ts';

const read = (file: string) => readFileSync(file, 'utf8');

/** Returns the anchors that GitHub generates for a document's headings. */
function anchorsOf(document: string): string[] {
  const headings =
    proseOf(document)
      .toLowerCase()
      .match(/(?<=^#+ ).+$/gm) ?? [];
  return headings.map((heading) => heading.replaceAll(/[^\w\s-]/g, '').replaceAll(' ', '-'));
}

const files = globSync('{*,docs/**/*,.github/*,infra/**/*}.md', { exclude: ['infra/*/node_modules'] });

test('documents mention only npm scripts that exist', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const mentioned = files.flatMap((file) =>
    Array.from(read(file).matchAll(/npm run ([\w:]+)/g), ([, script = '']) => ({ file, script })),
  );
  expect(mentioned.length).toBeGreaterThan(10);
  expect(mentioned.filter(({ script }) => !(script in scripts))).toEqual([]);
});

test('documents mention only existing actions and options of npm run keys', () => {
  const mentioned = files.flatMap((file) =>
    Array.from(read(file).matchAll(/npm run (?:--silent )?keys -- (\w+)([^\n|`)]*)/g)),
  );
  expect(mentioned.length).toBeGreaterThan(10);
  const usage = read('infra/operate/keys.ts');
  const unknown = mentioned.filter(([, action = '', rest = '']) =>
    [`\n  ${action} `, ...(rest.match(/--[a-z-]+/g) ?? [])].some((word) => !usage.includes(word)),
  );
  expect(unknown.map(([command]) => command)).toEqual([]);
});

test('documents link only to documents and headings that exist', () => {
  const links = files.flatMap((file) => {
    const found = proseOf(read(file)).matchAll(
      /(?:\]\(|(?:src|srcset)=")(?!https?:)([^)#"]*)(?:#([^)]+))?[)"]/g,
    );
    return Array.from(found, ([link, path = '', anchor]) => ({
      place: `${file}: ${link}`,
      target: path ? join(dirname(file), path) : file,
      anchor,
    }));
  });
  expect(links.length).toBeGreaterThan(100);
  const missing = links.filter(
    ({ target, anchor }) => !existsSync(target) || (anchor && !anchorsOf(read(target)).includes(anchor)),
  );
  expect(missing.map(({ place }) => place)).toEqual([]);
});

test('.ci/run runs the test command that README.md prints', () => {
  for (const file of ['README.md', '.ci/run']) expect(read(file).split('\n')).toContain('npm test');
});
