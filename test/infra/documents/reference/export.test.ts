import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { done, refusal, runModule } from '../../../support/run-command.ts';
import { runInProcess } from '../../../support/run-in-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const linked = [
  'openapi.json',
  'openapi-3.0.json',
  'docs/interface.md',
  'docs/changelog.md',
  'docs/clients.md',
];
const command = 'infra/documents/reference/export.ts';

test('npm run docs writes the page and the document to a folder that it creates', async () => {
  const output = join(folder, 'for', 'clients');
  expect(done(await runModule(command, ['--output', output]))).toBe(
    `Wrote ${join(output, 'index.html')}, and next to it ${linked.join(', ')}.\n`,
  );
  for (const file of linked) expect(readFileSync(join(output, file))).toEqual(readFileSync(file));
  const html = readFileSync(join(output, 'index.html'), 'utf8');
  expect(html).toContain("connect-src 'none'");
  expect(html).toContain('createApiReference'); // of the library
  expect(html).not.toContain('"apiKey":"');
});

test.each([
  [['--output', ''], /^--output must name a folder\.$/],
  [['--outputs', 'x'], /^Unknown option '--outputs'/],
  [
    ['--output', join(folder, 'file')],
    /^\S+file cannot be written: .*ENOTDIR.*\. Choose another folder with --output\.$/,
  ],
])('npm run docs rejects %j in a sentence', async (parameters, sentence) => {
  writeFileSync(join(folder, 'file'), '');
  expect(refusal(await runInProcess(command, parameters))).toMatch(sentence);
});
