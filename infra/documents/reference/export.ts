import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runWithOptions, UsageError } from '../../command.ts';
import { referencePage } from './page.ts';

const USAGE = `npm run docs -- [--output docs-site]

Exports the API reference as static files for any web server.

  --output  folder for index.html and the linked files, which is created if it does not exist`;

/** Files that the page links to, directly or through another of these files. */
const linked = [
  'openapi.json',
  'openapi-3.0.json',
  'docs/interface.md',
  'docs/changelog.md',
  'docs/clients.md',
  ...['go', 'py', 'sh', 'ts'].map((extension) => `docs/clients/pets.${extension}`),
];

await runWithOptions(USAGE, { output: { type: 'string', default: 'docs-site' } }, async ({ output }) => {
  if (output === '') throw new UsageError('--output must be the path of a folder.');
  const { html } = referencePage(await readFile('openapi-3.0.json', 'utf8'));
  try {
    await mkdir(join(output, 'docs/clients'), { recursive: true });
    await writeFile(join(output, 'index.html'), html);
    for (const file of linked) await copyFile(file, join(output, file));
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`${output} cannot be written: ${message}. Choose another folder with --output.`);
  }
  console.log(`Wrote ${join(output, 'index.html')} and, in the same folder, ${linked.join(', ')}.`);
});
