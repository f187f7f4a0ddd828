import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../operate/command.ts';
import { readLibrary } from './library.ts';
import { referencePage } from './page.ts';

const USAGE = `npm run docs -- [--output docs-site]

Exports the API reference as static files for any web server.

  --output  folder for index.html and openapi.json; created if it does not exist`;

const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

async function docs(): Promise<void> {
  const { values } = parseArgs({
    options: {
      output: { type: 'string', default: join(projectRoot, 'docs-site') },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const folder = values.output;
  if (folder === '') throw new UsageError('--output must name a folder.');

  const openApi = join(projectRoot, 'openapi.json');
  const document = await readFile(openApi, 'utf8').catch(() => {
    throw new UsageError('There is no openapi.json: write it with npm run openapi.');
  });
  const library = await readLibrary().catch(() => {
    throw new UsageError('The library that renders the page is not installed: run npm ci.');
  });
  const { html } = referencePage(document, { library });
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'index.html'), html);
    await copyFile(openApi, join(folder, 'openapi.json'));
  } catch (error) {
    throw new UsageError(
      `${folder} cannot be written: ${(error as Error).message}. Choose another folder with --output.`,
    );
  }
  console.log(`Wrote ${join(folder, 'index.html')} and openapi.json next to it.`);
}

await runCommand(docs);
