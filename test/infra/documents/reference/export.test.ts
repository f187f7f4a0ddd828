import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { done, refusal } from '../../../support/outcomes.ts';
import { runModule } from '../../../support/run-command.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const openApi = fileURLToPath(new URL('../../../../openapi.json', import.meta.url));

function docs(...parameters: string[]) {
  return runModule('infra/documents/reference/export.ts', parameters);
}

describe('npm run docs', () => {
  test('writes the page and the document to a folder that it creates', async () => {
    const output = join(folder, 'for', 'clients');
    expect(done(await docs('--output', output))).toBe(
      `Wrote ${join(output, 'index.html')} and openapi.json next to it.\n`,
    );
    expect(readFileSync(join(output, 'openapi.json'))).toEqual(readFileSync(openApi));
    const html = readFileSync(join(output, 'index.html'), 'utf8');
    expect(html).toContain("connect-src 'none'");
    expect(html).not.toContain('"apiKey":"');
  });

  test('says what to do when the folder cannot be written', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(refusal(await docs('--output', file))).toMatch(
      /^\S+file cannot be written: .*EEXIST.*\. Choose another folder with --output\.$/,
    );
  });

  test.each([
    [['--output', ''], /^--output must name a folder\.$/],
    [['--outputs', 'x'], /Unknown option '--outputs'/],
  ])('rejects %j in a sentence', async (parameters, sentence) => {
    expect(refusal(await docs(...parameters))).toMatch(sentence);
  });
});
