import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runModule } from '../../../support/run-command.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const openApi = fileURLToPath(new URL('../../../../openapi.json', import.meta.url));

function docs(...parameters: string[]) {
  return runModule('infra/documents/reference/export.ts', parameters);
}

describe('npm run docs', () => {
  test('writes the page and the document into a folder that it makes', async () => {
    const output = join(folder, 'for', 'clients');
    const { code, stdout, stderr } = await docs('--output', output);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`Wrote ${join(output, 'index.html')} and openapi.json beside it.\n`);
    expect(readFileSync(join(output, 'openapi.json'))).toEqual(readFileSync(openApi));
    const html = readFileSync(join(output, 'index.html'), 'utf8');
    expect(html).toContain("connect-src 'none'");
    expect(html).not.toContain('"apiKey":"');
  });

  test('says what to do when the folder cannot be written', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { code, stderr } = await docs('--output', file);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^\S+file cannot be written: .*EEXIST.*\. Choose another folder with --output\.\n$/,
    );
  });

  test.each([
    [['--output', ''], /^--output must name a folder\.\n$/],
    [['--outputs', 'x'], /Unknown option '--outputs'/],
  ])('refuses %j in a sentence', async (parameters, sentence) => {
    const { code, stderr } = await docs(...parameters);
    expect(code).toBe(1);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain('    at ');
  });
});
