import { describe, expect, jest, test } from '@jest/globals';
import type { Diff } from 'api-smart-diff';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../../infra/operate/command.ts';
import { readDocument } from '../../../../infra/documents/changes/document.ts';
import { conclusionOf } from '../../../../infra/documents/changes/output.ts';
import { add, type Change, replace } from '../../../support/json-changes.ts';
import { done, refusal } from '../../../support/outcomes.ts';
import { runModule } from '../../../support/run-command.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

jest.setTimeout(60_000); // for processes that start on a busy machine

const folder = temporaryFolder();

/** Runs `npm run openapi:diff`. */
function openapiDiff(...parameters: string[]) {
  return runModule('infra/documents/changes/main.ts', parameters);
}

/** A file with openapi.json as it was before changes. */
function earlier(name: string, ...changes: Change[]): string {
  const document = JSON.parse(readFileSync(new URL('../../../../openapi.json', import.meta.url), 'utf8'));
  for (const change of changes) change(document);
  return written(name, JSON.stringify(document));
}

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const MAXIMUM = '/paths/~1pets/get/parameters/0/schema/maximum';

describe('npm run openapi:diff', () => {
  test('explains itself when asked', async () => {
    const stdout = done(await openapiDiff('--help'));
    expect(stdout).toMatch(/^npm run openapi:diff -- \[--base FILE\]/);
    expect(stdout).toMatch(/^ +--base /m);
  });

  test('compares with the released interface, and finds that nothing breaks', async () => {
    const conclusion = done(await openapiDiff())
      .trimEnd()
      .split('\n')
      .at(-1);
    expect(conclusion).toMatch(
      /^(Nothing breaks clients: \d+ changes? against|openapi\.json says the same as) docs\/openapi-released\.json\.$/,
    );
  });

  test('lists what breaks clients before all else, says what to do, and fails', async () => {
    const base = earlier(
      'breaking.json',
      replace('/info/title', 'Animals'),
      add('/info/x-\u001b[31m', 1),
      add('/x-quota', 1),
      replace(MAXIMUM, 200),
      replace('/paths/~1pets/get/parameters/0/schema/minimum', 0),
    );
    expect(await openapiDiff('--base', base)).toEqual({
      code: 1,
      stdout:
        'breaking: changed GET /pets › parameters › limit › schema › minimum: 0 → 1\n' +
        'breaking: changed GET /pets › parameters › limit › schema › maximum: 200 → 100\n' +
        'unclassified: removed x-quota: 1\n' +
        'annotation: removed info › x- [31m: 1\n' +
        'annotation: changed info › title: "Animals" → "Pet store"\n',
      stderr:
        `2 changes of openapi.json against ${base} would break clients, and 1 unclassified may: take back what breaks them, or offer ` +
        'it as a new version at an address of its own; only once every client can take it, release it by npm run openapi -- --release.\n',
    });
  });

  test('refuses a file that is missing, in one sentence', async () => {
    const file = join(folder, 'missing.json');
    expect(refusal(await openapiDiff('--base', file))).toMatch(
      /^\S+missing\.json cannot be read \(ENOENT\); name an OpenAPI 3\.1 document after --base\.$/,
    );
  });
});

describe('What differences come to', () => {
  test.each<[string, Diff['type'][], string]>([
    ['nothing, when there is none', [], 'openapi.json says the same as base.json.'],
    [
      'nothing that breaks clients',
      ['annotation', 'deprecated'],
      'Nothing breaks clients: 2 changes against base.json.',
    ],
  ])('is %s', (_what, types, sentence) => {
    expect(conclusionOf(differencesOf(types), 'base.json')).toBe(sentence);
  });

  test('is a failure when nobody knows whether one breaks clients', () => {
    expect(() => conclusionOf(differencesOf(['unclassified', 'annotation']), 'base.json')).toThrow(
      new UsageError(
        '1 change of openapi.json against base.json may break clients, nobody knows: look at what is listed as unclassified, and ' +
          'take it back, or have infra/documents/changes/rules.ts say what it does to clients.',
      ),
    );
  });
});

function differencesOf(types: Diff['type'][]): Diff[] {
  return types.map((type) => ({ type, action: 'add', path: ['x'] }));
}

describe('A document is refused', () => {
  test.each([
    ['that is not JSON', written('broken.json', '{'), /\(.+\)/],
    ['of version 3.0', earlier('old.json', replace('/openapi', '3.0.3')), /\(openapi is no version 3\.1\)/],
    ['whose references lead nowhere', withReference('#/components/schemas/Dog'), /leads nowhere\)/],
    [
      'whose references lead out of it',
      withReference('https://petstore.example.com/openapi.json#/components/schemas/Pet'),
      /leads out of it\)/,
    ],
    [
      'whose references lead back to them',
      withReference('#/components/schemas/NewPet'),
      /NewPet leads to what it is a part of\)/,
    ],
  ])('%s', (_what, file, reason) => {
    const read = () => readDocument('base.json', 'mend it', file);
    expect(read).toThrow(UsageError);
    expect(read).toThrow(/^base\.json is not an OpenAPI 3\.1 document in JSON \(.+\); mend it\.$/);
    expect(read).toThrow(reason);
  });
});

function withReference($ref: string): string {
  const name = `${encodeURIComponent($ref)}.json`;
  return earlier(name, add('/components/schemas/NewPet/properties/other', { $ref }));
}
