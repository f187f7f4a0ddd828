import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runWithOptions, UsageError } from '../../operate/command.ts';
import { readLibrary } from './library.ts';
import { referencePage } from './page.ts';

const USAGE = `npm run docs -- [--output docs-site]

Exports the API reference as static files for any web server.

  --output  folder for index.html and openapi.json; created if it does not exist`;

const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));
const openApi = join(projectRoot, 'openapi.json');
const options = { output: { type: 'string', default: join(projectRoot, 'docs-site') } } as const;

await runWithOptions(USAGE, options, async ({ output }) => {
  if (output === '') throw new UsageError('--output must name a folder.');
  const document = await readFile(openApi, 'utf8').catch(() => {
    throw new UsageError('There is no openapi.json: write it with npm run generate.');
  });
  const { html } = referencePage(document, { library: await readLibrary() });
  try {
    await mkdir(output, { recursive: true });
    await writeFile(join(output, 'index.html'), html);
    await copyFile(openApi, join(output, 'openapi.json'));
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`${output} cannot be written: ${message}. Choose another folder with --output.`);
  }
  console.log(`Wrote ${join(output, 'index.html')} and openapi.json next to it.`);
});
