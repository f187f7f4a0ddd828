import { expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { done, errorOutput, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const command = 'infra/openapi/export.ts';

test('npm run docs creates a folder with the reference page and the files that the page links to', async () => {
  const output = join(folder, 'for', 'clients');
  const printed = done(await runModule(command, ['--output', output]));
  const [, page, files = ''] = /^Wrote (\S+) and, in the same folder, (.+)\.\n$/.exec(printed)!;
  expect(page).toBe(join(output, 'index.html'));
  const [openApi30, ...copied] = files.split(', ');
  expect(copied).toEqual(expect.arrayContaining(['openapi.json', 'docs/interface.md']));
  for (const file of copied) expect(readFileSync(join(output, file))).toEqual(readFileSync(file));

  expect(openApi30).toBe('openapi-3.0.json');
  const published = readFileSync('openapi.json', 'utf8');
  const expected = published.replace('"openapi": "3.1.0"', '"openapi": "3.0.3"');
  expect(readFileSync(join(output, 'openapi-3.0.json'), 'utf8')).toBe(expected);
  expect(readFileSync(join(output, 'index.html'), 'utf8')).toContain("connect-src 'none'");
});

test('npm run docs exports the pages for clients with all files that they link to', async () => {
  const output = join(folder, 'pages');
  done(await runModule(command, ['--output', output]));
  const pages = globSync('docs/{interface,clients,clients/*}.md');
  expect(pages).toContain('docs/clients.md');
  for (const page of pages) {
    const text = readFileSync(join(output, page), 'utf8');
    const links = Array.from(text.matchAll(/\]\((?!https?:)([^)#]+)/g), ([, path]) => path!);
    const missing = links.filter((path) => !existsSync(join(output, dirname(page), path)));
    expect({ page, missing }).toEqual({ page, missing: [] });
  }
});

test('npm run docs rejects an output folder that it cannot create', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(errorOutput(await runModule(command, ['--output', file]))).toMatch(
    /^\S+file cannot be written: .*ENOTDIR.*\. Choose another folder with --output\.$/,
  );
});
