import { globSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { createFolder, UsageError } from '../command.ts';
import { asOpenApi30 } from './openapi-3.0.ts';
import { referencePage } from './reference-page.ts';

/** Files that the page links to, directly or through another of these files. */
const linked = [
  'openapi.json',
  'docs/interface.md',
  'docs/clients.md',
  ...globSync('docs/clients/*').toSorted(),
];

/**
 * Writes the API reference as static files. Returns the paths of the files in the folder `output` that the page
 * `index.html` links to.
 *
 * @throws UsageError if the folder cannot be written
 */
export async function writeStaticFiles(output: string): Promise<string[]> {
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
  return ['openapi-3.0.json', ...linked];
}
