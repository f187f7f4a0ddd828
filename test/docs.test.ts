import { describe, expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stages } from '../infra/stages.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

/** What `npm run keys` knows. */
const keysSource = read('infra/operate/keys/main.ts');
const keyActions = Array.from(keysSource.matchAll(/keyCommand\('(\w+)'/g), ([, action]) => action!);
const keyOptions = new Set(keysSource.match(/(?<=')--[a-z-]+/g));

/** The calls of `npm run keys` in a text, each with its action and options. */
function keyCommandsIn(text: string): { action: string; options: string[] }[] {
  return Array.from(
    text.matchAll(/npm run (?:--silent )?keys -- (\w+)([^\n|`)]*)/g),
    ([, action = '', rest = '']) => ({ action, options: rest.match(/--[a-z-]+/g) ?? [] }),
  );
}

describe('docs/api-keys.md', () => {
  const document = read('docs/api-keys.md');

  test('shows every action of the command for keys', () => {
    const shown = new Set(keyCommandsIn(document).map(({ action }) => action));
    expect([...shown].toSorted()).toEqual(keyActions.toSorted());
  });

  test.each(['docs/api-keys.md', 'README.md'])(
    'tells how long an ended key still works as the stages have it, as does %s',
    (file) => {
      const mentioned = new Set(read(file).match(/\d+(?= seconds(?: at most|, as long as API Gateway))/g));
      expect([...mentioned]).toEqual([
        ...new Set(Object.values(stages).map((stage) => stage.authorizerCacheSeconds.toString())),
      ]);
    },
  );
});

const root = fileURLToPath(new URL('..', import.meta.url));

/** The anchors of the headings of a document, as GitHub makes them. */
function anchorsOf(document: string): Set<string> {
  const prose = document.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return new Set(
    Array.from(prose.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

describe.each(globSync(['*.md', 'docs/*.md'], { cwd: root }))('%s', (file) => {
  test('tells to run what there is to run', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const mentioned = Array.from(read(file).matchAll(/npm run ([\w:]+)/g), ([, script]) => script!);
    expect(mentioned.filter((script) => !(script in scripts))).toEqual([]);
  });

  test('tells to run actions and options of keys that there are', () => {
    const commands = keyCommandsIn(read(file));
    expect(commands.filter(({ action }) => !keyActions.includes(action))).toEqual([]);
    expect(commands.flatMap(({ options }) => options).filter((name) => !keyOptions.has(name))).toEqual([]);
  });

  test('links to documents and headings that there are', () => {
    const here = new URL(`../${file}`, import.meta.url);
    const links = Array.from(read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g));
    const missing = links.filter(([, path = '', anchor]) => {
      const target = path ? new URL(path, here) : here;
      return !existsSync(target) || (anchor && !anchorsOf(readFileSync(target, 'utf8')).has(anchor));
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });
});
