import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../operate/command.ts';
import { readLibrary } from './library.ts';
import { referencePage } from './page.ts';

// `npm run docs`: the reference of the interface as static files, for any web server.

const USAGE = `npm run docs -- [--output docs-site]

  --output  folder for index.html and openapi.json; made if it is not there`;

const openApiFile = fileURLToPath(new URL('../../../openapi.json', import.meta.url));

async function docs(): Promise<void> {
  const { values } = parseArgs({
    options: {
      output: { type: 'string', default: fileURLToPath(new URL('../../../docs-site', import.meta.url)) },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const folder = values.output;
  if (folder === '') throw new UsageError('--output must name a folder.');

  const document = await readFile(openApiFile, 'utf8').catch(() => {
    throw new UsageError('There is no openapi.json: write it with npm run openapi.');
  });
  const library = await readLibrary().catch(() => {
    throw new UsageError('The library that draws the page is not installed: run npm ci.');
  });
  const { html } = referencePage(document, { library });
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'index.html'), html);
    await copyFile(openApiFile, join(folder, 'openapi.json'));
  } catch (error) {
    throw new UsageError(
      `${folder} cannot be written: ${(error as Error).message}. Choose another folder with --output.`,
    );
  }
  console.log(`Wrote ${join(folder, 'index.html')} and openapi.json beside it.`);
}

await runCommand(docs);
