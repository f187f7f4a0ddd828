import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, stringifyJson } from '../../../../shared/contract/json.ts';
import { withChanges } from './json-changes.ts';
import { done, errorOutput, runModule } from '../../../support/run-command.ts';
import { runInProcess } from '../../../support/run-in-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const command = 'infra/documents/changes/main.ts';

function baseWith(...changes: string[]): string {
  const document = parseJson(readFileSync('openapi.json', 'utf8')) as object;
  return written(stringifyJson(withChanges(document, ...changes)));
}

function written(text: string): string {
  const file = join(folder, 'base.json');
  writeFileSync(file, text);
  return file;
}

const referring = (to: string) =>
  baseWith(`added components › schemas › NewPet › properties › other: {"$ref":"${to}"}`);

describe('npm run openapi:diff', () => {
  test('finds no breaking changes since the last release', async () => {
    const stdout = done(await runInProcess(command, []));
    expect(stdout).toMatch(/^No (breaking )?changes since docs\/openapi-released\.json\.$/m);
  });

  test('lists breaking changes first and reports how to continue', async () => {
    const base = baseWith(
      'changed info › title: "Pet store" → "Animals"',
      'added info › x-\u001b[31m: 1',
      'added x-quota: 1',
      'removed components › schemas › NewPet › required › "categoryId"',
      'changed GET /pets › parameters › limit › schema › maximum: 100 → 200',
    );
    expect(await runModule(command, ['--base', base])).toEqual({
      code: 1,
      stdout:
        'breaking: added POST /pets › requestBody › content › application/json › schema › required › "categoryId"\n' +
        'breaking: changed GET /pets › parameters › limit › schema › maximum: 200 → 100\n' +
        'cannot classify: removed x-quota: 1\n' +
        'non-breaking: changed info › title: "Animals" → "Pet store"\n' +
        'non-breaking: removed info › x- [31m: 1\n',
      stderr:
        `3 of 5 changes since ${base} break clients or cannot be classified. Undo breaking changes or publish them in a new version ` +
        'with its own URL (docs/interface.md, "Compatibility"). For changes that cannot be classified, add rules to ' +
        'infra/documents/changes/rules.ts.\n',
    });
  });

  test('fails if a change cannot be classified', async () => {
    const base = baseWith('changed openapi: "3.1.1" → "3.0.3"');
    const { code, stdout } = await runInProcess(command, ['--base', base]);
    expect([code, stdout]).toEqual([1, 'cannot classify: changed openapi: "3.0.3" → "3.1.1"\n']);
  });

  test('accepts non-breaking changes', async () => {
    const base = baseWith('removed GET /pets › parameters › status');
    expect(done(await runInProcess(command, ['--base', base]))).toMatch(
      /^non-breaking: added GET \/pets › parameters › status: .{60}…\nNo breaking changes since \S+\.\n$/,
    );
  });

  test.each([
    ['that does not exist', () => join(folder, 'missing.json'), /ENOENT: no such file/],
    ['that is not JSON', () => written('{'), /./],
    ['with an unknown component', () => referring('#/components/schemas/Dog'), /the target of \S+Dog\.$/],
    ['with a reference to another file', () => referring('pets.json#/Pet'), /the target of \S+Pet\.$/],
    ['with a circular reference', () => referring('#/components/schemas/NewPet'), /circular reference\.$/],
  ])('rejects a base %s', async (_what, base, reason) => {
    const sentence = errorOutput(await runInProcess(command, ['--base', base()]));
    expect(sentence).toMatch(/^\S+\.json is not an OpenAPI document in JSON: /);
    expect(sentence).toMatch(reason);
  });
});
