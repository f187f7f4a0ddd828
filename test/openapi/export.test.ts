import { expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runInProcess } from '../operate/in-process.ts';
import { done, errorOutput } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

const docs = (output: string) => runInProcess('infra/openapi/export.ts', ['--output', output]);

test('npm run docs writes a page that sends no requests, and the OpenAPI document in two versions', async () => {
  const output = join(folder, 'for', 'clients');
  done(await docs(output));
  expect(readFileSync(join(output, 'index.html'), 'utf8')).toContain("connect-src 'none'");
  const published = readFileSync('openapi.json', 'utf8');
  expect(readFileSync(join(output, 'openapi.json'), 'utf8')).toBe(published);
  const openApi30 = readFileSync(join(output, 'openapi-3.0.json'), 'utf8');
  expect(openApi30).toBe(published.replace('"openapi": "3.1.0"', '"openapi": "3.0.3"'));
});

test('npm run docs exports the pages for clients with all files that they link to', async () => {
  const output = join(folder, 'pages');
  const printed = done(await docs(output));
  const pages = globSync('docs/{api,clients}.md');
  for (const page of pages) expect(printed).toContain(page);
  const missing = pages.flatMap((page) => {
    const text = readFileSync(join(output, page), 'utf8');
    const links = Array.from(text.matchAll(/\]\((?!https?:)([^)#]+)/g), ([, path]) => path!);
    return links
      .filter((path) => !existsSync(join(output, dirname(page), path)))
      .map((path) => `${page} links to ${path}`);
  });
  expect(missing).toEqual([]);
});

test('npm run docs rejects an output folder that it cannot create', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(errorOutput(await docs(file))).toMatch(/^\S+file cannot be written: .* with --output\.$/);
});
