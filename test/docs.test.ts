import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { monthlyCost, sum } from '../infra/operate/cost/model.ts';
import type { StageSettings } from '../infra/settings.ts';
import { stages } from '../infra/stages.ts';
import { errorCatalogue } from '../shared/contract/errors.ts';

const { staging, production }: Record<keyof typeof stages, StageSettings> = stages;
const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const number = (value: number | undefined) => value?.toLocaleString('en') ?? '';

describe('docs/interface.md', () => {
  const rows = new Map(
    read('docs/interface.md')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, first = '', ...cells]) => [first, cells]),
  );
  /** Numbers with thousands separators, in the order in which they stand in the row. */
  const numbersOf = (first: string) =>
    (rows.get(first) ?? []).map((cell) => cell.match(/\d[\d,]*/g)?.join(' ') ?? '');

  test.each([
    [
      'the whole stage',
      [staging, production].map(
        ({ requestsPerSecond, requestBurst }) => `${number(requestsPerSecond)} ${number(requestBurst)}`,
      ),
    ],
    [
      'one address',
      [staging, production].map(({ firewall }) => number(firewall?.requestsPerMinutePerAddress)),
    ],
    ['one API key', [staging, production].map(({ firewall }) => number(firewall?.requestsPerMinutePerKey))],
  ])('tells the limits of %s as the stages have them', (first, limits) => {
    expect(numbersOf(first).slice(0, 2)).toEqual(limits);
  });

  test.each(Object.entries(errorCatalogue))(
    'tells when a refusal is %s, with its status %d',
    (code, status) => {
      const [told, when] = rows.get(`\`${code}\``) ?? [];
      expect(told).toBe(status.toString());
      expect(when).toMatch(/\w/);
    },
  );
});

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
      const told = new Set(read(file).match(/\d+(?= seconds(?: at most|, as long as API Gateway))/g));
      expect([...told]).toEqual([
        ...new Set(Object.values(stages).map((stage) => stage.authorizerCacheSeconds.toString())),
      ]);
    },
  );
});

describe('README.md', () => {
  test('tells what the stages cost as docs/cost.md has it, in whole dollars', () => {
    const dollars = [monthlyCost(staging, 0), monthlyCost(production, 10)].map((costs) =>
      sum(Object.values(costs)).toFixed(),
    );
    const told = /\(an idle staging about \$(\d+), production at ten requests a second about \$(\d+)\)/.exec(
      read('README.md').replaceAll('\n', ' '),
    );
    expect(told?.slice(1)).toEqual(dollars);
  });
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
    const told = Array.from(read(file).matchAll(/npm run ([\w:]+)/g), ([, script]) => script!);
    expect(told.filter((script) => !(script in scripts))).toEqual([]);
  });

  test('tells to run actions and options of keys that there are', () => {
    const commands = keyCommandsIn(read(file));
    expect(commands.filter(({ action }) => !keyActions.includes(action))).toEqual([]);
    expect(commands.flatMap(({ options }) => options).filter((name) => !keyOptions.has(name))).toEqual([]);
  });

  test('links to headings that there are', () => {
    const links = Array.from(
      read(file).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g),
      ([, path, anchor]) =>
        [
          path
            ? new URL(path, new URL(`../${file}`, import.meta.url))
            : new URL(`../${file}`, import.meta.url),
          anchor!,
        ] as const,
    );
    const missing = links.filter(([target, anchor]) => !anchorsOf(readFileSync(target, 'utf8')).has(anchor));
    expect(missing.map(([, anchor]) => anchor)).toEqual([]);
  });

  test('links to what is there', () => {
    const links = Array.from(read(file).matchAll(/\]\((?!https?:|#)([^)#]+)/g), ([, link]) => link!);
    const missing = links.filter(
      (link) => globSync(fileURLToPath(new URL(link, new URL(`../${file}`, import.meta.url)))).length === 0,
    );
    expect(missing).toEqual([]);
  });
});
