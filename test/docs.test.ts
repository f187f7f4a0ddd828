import { describe, expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as keys from '../infra/operate/keys/arguments.ts';
import { proseOf } from './support/markdown-code.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

const keyActions = Object.keys(keys.actions);
const keyOptions = new Set(Object.keys(keys.options).map((name) => `--${name}`));

/** Returns the action and options of each `npm run keys` command in `text`. */
function keyCommandsIn(text: string): { action: string; options: string[] }[] {
  return Array.from(
    text.matchAll(/npm run (?:--silent )?keys -- (\w+)([^\n|`)]*)/g),
    ([, action = '', rest = '']) => ({ action, options: rest.match(/--[a-z-]+/g) ?? [] }),
  );
}

describe('docs/api-keys.md', () => {
  const document = read('docs/api-keys.md');

  test('documents every action of npm run keys', () => {
    const shown = new Set(keyCommandsIn(document).map(({ action }) => action));
    expect([...shown].toSorted()).toEqual(keyActions.toSorted());
  });
});

const root = fileURLToPath(new URL('..', import.meta.url));

/** Returns the anchors that GitHub generates for a document's headings. */
function anchorsOf(document: string): Set<string> {
  return new Set(
    Array.from(proseOf(document).matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

describe.each(globSync(['*.md', 'docs/*.md', '.github/*.md', 'infra/**/*.md'], { cwd: root }))(
  '%s',
  (file) => {
    test('mentions only npm scripts that exist', () => {
      const { scripts } = JSON.parse(read('package.json'));
      const mentioned = Array.from(read(file).matchAll(/npm run ([\w:]+)/g), ([, script]) => script!);
      expect(mentioned.filter((script) => !(script in scripts))).toEqual([]);
    });

    test('mentions only actions and options of npm run keys that exist', () => {
      const commands = keyCommandsIn(read(file));
      expect(commands.filter(({ action }) => !keyActions.includes(action))).toEqual([]);
      expect(commands.flatMap(({ options }) => options).filter((name) => !keyOptions.has(name))).toEqual([]);
    });

    test('links only to documents and headings that exist', () => {
      const here = new URL(`../${file}`, import.meta.url);
      const links = Array.from(read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g));
      const missing = links.filter(([, path = '', anchor]) => {
        const target = path ? new URL(path, here) : here;
        return !existsSync(target) || (anchor && !anchorsOf(readFileSync(target, 'utf8')).has(anchor));
      });
      expect(missing.map(([link]) => link)).toEqual([]);
    });

    test('limits lines to 120 characters and paragraphs to six lines', () => {
      const document = read(file);
      const paragraphs = proseOf(document).split(/\n\s*\n|\n(?=\s*(?:[-|#<[]|\d+\.))/);
      expect(document.split('\n').filter((line) => line.length > 120)).toEqual([]);
      expect(paragraphs.filter((text) => text.trim().split('\n').length > 6)).toEqual([]);
    });
  },
);
