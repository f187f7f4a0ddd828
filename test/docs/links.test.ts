import { expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { proseOf } from '../support/markdown-code.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const pages = globSync('{*,docs/**/*,.github/*,infra/**/*}.md', { exclude: ['infra/*/node_modules'] });

function headingsOf(page: string): string[] {
  return proseOf(page).match(/(?<=^#+ ).+$/gm) ?? [];
}

/** Returns the anchors that GitHub generates for a page's headings. */
function anchorsOf(page: string): string[] {
  const headings = headingsOf(page).map((heading) => heading.toLowerCase());
  return headings.map((heading) => heading.replaceAll(/[^\w\s-]/g, '').replaceAll(' ', '-'));
}

test('pages link only to files and headings that exist', () => {
  const links = pages.flatMap((page) => {
    const found = proseOf(read(page)).matchAll(
      /(?:\]\(|(?:src|srcset)=")(?!https?:)([^)#"]*)(?:#([^)]+))?[)"]/g,
    );
    return Array.from(found, ([link, path = '', anchor]) => ({
      place: `${page}: ${link}`,
      target: path ? join(dirname(page), path) : page,
      anchor,
    }));
  });
  expect(links.length).toBeGreaterThan(100);
  const linked = new Set(links.filter(({ anchor }) => anchor).map(({ target }) => target));
  const anchors = new Map([...linked].filter(existsSync).map((file) => [file, anchorsOf(read(file))]));
  const dead = links.filter(
    ({ target, anchor }) => !existsSync(target) || (anchor && !anchors.get(target)!.includes(anchor)),
  );
  expect(dead.map(({ place }) => place)).toEqual([]);
});

test('pages define the targets of their links', () => {
  const undefinedTargets = pages.flatMap((page) => {
    const text = proseOf(read(page));
    const used = Array.from(text.matchAll(/\]\[([\w\s-]+)\]/g), ([, name]) => name!.replaceAll(/\s+/g, ' '));
    return used.filter((name) => !text.includes(`\n[${name}]: http`)).map((name) => `${page}: [${name}]`);
  });
  expect(undefinedTargets).toEqual([]);
});

test('the code names only pages, and sections of pages, that exist', () => {
  const files =
    '{.github/CODEOWNERS,.gitleaks.toml,.oasdiff.yaml,docs/oncall.sh,{infra,shared,functions}/**/*.ts}';
  const sources = globSync(files).map(read).join('\n');
  // Line breaks in comments are followed by `*`, `//` or `#`. In messages, quotes can be escaped.
  const text = sources.replaceAll(/\s+(?:\*|\/\/|#)?\s*/g, ' ').replaceAll('\\"', '"');
  const before = text.matchAll(/"(?<section>[^"]+)" in (?<page>docs\/[\w-]+\.md)/g);
  const after = text.matchAll(/(?<page>docs\/[\w-]+\.md), "(?<section>[A-Z][^"$]+)"/g);
  const mentions = [...before, ...after].map(({ groups }) => groups as { page: string; section: string });
  expect(mentions.length).toBeGreaterThan(8);
  const wrong = mentions.filter(
    ({ page, section }) => !existsSync(page) || !headingsOf(read(page)).includes(section),
  );
  expect(wrong).toEqual([]);
  const named = new Set(text.match(/(?<![\w/])docs\/[\w/-]+\.(?:md|json|sh)\b/g));
  expect([...named].filter((file) => !existsSync(file))).toEqual([]);
});
