import { join } from 'node:path';
import { pathOption, relativePaths, runWithOptions } from '../command.ts';
import { writeStaticFiles } from './static-files.ts';

const USAGE = `npm run docs -- [--output docs-site]

Exports the API reference as static files for any web server. The files include the OpenAPI document in two versions:
openapi.json (3.1) and openapi-3.0.json (3.0), for tools that do not support 3.1.

  --output  folder for index.html and the linked files, which is created if it does not exist

${relativePaths}`;

await runWithOptions(USAGE, { output: { type: 'string', default: 'docs-site' } }, async (values) => {
  const output = pathOption('--output', values.output);
  const others = await writeStaticFiles(output);
  console.log(`Wrote ${join(output, 'index.html')} and, in the same folder, ${others.join(', ')}.`);
});
