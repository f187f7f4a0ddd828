import { describe, expect, jest, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { add, type Change, replace } from '../support/json-changes.ts';
import { done, refusal } from '../support/outcomes.ts';
import { runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

jest.setTimeout(60_000); // for processes that start on a busy machine

const folder = temporaryFolder();

/** Runs `npm run openapi:diff`. */
function openapiDiff(...parameters: string[]) {
  return runModule('infra/openapi-diff.ts', parameters);
}

/** A file with openapi.json as it was before changes. */
function earlier(name: string, ...changes: Change[]): string {
  const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
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
      replace(MAXIMUM, 200),
      replace('/paths/~1pets/get/parameters/0/schema/minimum', 0),
    );
    expect(await openapiDiff('--base', base)).toEqual({
      code: 1,
      stdout:
        'breaking: changed GET /pets › parameters › limit › schema › minimum: 0 → 1\n' +
        'breaking: changed GET /pets › parameters › limit › schema › maximum: 200 → 100\n' +
        'annotation: changed info › title: "Animals" → "Pet store"\n',
      stderr:
        `2 changes of openapi.json against ${base} would break clients: take back what breaks them, or offer it as ` +
        'a new version at an address of its own; only once every client can take it, release it by npm run openapi -- --release.\n',
    });
  });

  test('lists what does not break clients, and says so', async () => {
    const base = earlier('compatible.json', replace(MAXIMUM, 50), add('/info/x-\u001b[31m', 1));
    expect(done(await openapiDiff('--base', base))).toBe(
      'non-breaking: changed GET /pets › parameters › limit › schema › maximum: 50 → 100\n' +
        'annotation: removed info › x- [31m: 1\n' +
        `Nothing breaks clients: 2 changes against ${base}.\n`,
    );
  });

  test.each([
    [
      'is missing',
      join(folder, 'missing.json'),
      /^\S+missing\.json cannot be read \(ENOENT\); name an OpenAPI/,
    ],
    [
      'is not JSON',
      written('broken.json', '{'),
      /^\S+broken\.json is not an OpenAPI 3\.1 document in JSON \(.+\); name/,
    ],
    [
      'is of version 3.0',
      earlier('old.json', replace('/openapi', '3.0.3')),
      /^\S+ is not .+\(openapi is no version 3\.1\)/,
    ],
  ])('refuses a file that %s, in one sentence', async (_what, file, sentence) => {
    expect(refusal(await openapiDiff('--base', file))).toMatch(sentence);
  });
});
