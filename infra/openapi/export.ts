import { globSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { createFolder, pathOption, relativePaths, runWithOptions, UsageError } from '../command.ts';
import { asOpenApi30 } from './openapi-3.0.ts';
import { referencePage } from './reference-page.ts';

const USAGE = `npm run docs -- [--output docs-site]

Exports the API reference as static files for any web server. The files include the OpenAPI document in two versions:
openapi.json (3.1) and openapi-3.0.json (3.0), for tools that do not support 3.1.

  --output  folder for index.html and the linked files, which is created if it does not exist

${relativePaths}`;

/** Files that the page links to, directly or through another of these files. */
const linked = [
  '.gitleaks.toml',
  'openapi.json',
  'docs/api.md',
  'docs/clients.md',
  ...globSync('docs/clients/*').toSorted(),
];

await runWithOptions(USAGE, { output: { type: 'string', default: 'docs-site' } }, async (values) => {
  const output = pathOption('--output', values.output);
  const openApi = await readFile('openapi.json', 'utf8');
  const openApi30 = `${stringifyJson(asOpenApi30(parseJson(openApi)), 2)}\n`;
  try {
    createFolder(join(output, 'docs'));
    await writeFile(join(output, 'index.html'), referencePage(openApi).html);
    await writeFile(join(output, 'openapi-3.0.json'), openApi30);
    for (const file of linked) await cp(file, join(output, file));
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`${output} cannot be written: ${message}. Choose another folder with --output.`);
  }
  const others = ['openapi-3.0.json', ...linked].join(', ');
  console.log(`Wrote ${join(output, 'index.html')} and, in the same folder, ${others}.`);
});
