import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openApiJson } from '../openapi/document.ts';
import { plain, runCommand, UsageError } from '../../operate/command.ts';
import { readDocument } from './document.ts';
import { conclusionOf, describeDifferences } from './output.ts';
import { differences } from './rules.ts';

// `npm run openapi:diff`: what openapi.json changes for clients of the released interface. Fails where it breaks them, or may.

const USAGE = `npm run openapi:diff -- [--base FILE]

  --base  the OpenAPI document that clients have (default: docs/openapi-released.json, which npm run openapi -- --release
          writes)

Lists how openapi.json differs from it, what breaks clients first. Fails if anything does, or is "unclassified": nobody
knows whether it does.`;

const RELEASED = 'docs/openapi-released.json';
const projectRoot = new URL('../../..', import.meta.url);

async function openapiDiff(): Promise<void> {
  const { values } = parseArgs({
    options: { base: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  if (values.help) return console.log(USAGE);

  const base = values.base ?? RELEASED;
  const before =
    values.base === undefined
      ? readDocument(RELEASED, 'write it by npm run openapi -- --release', projectPath(RELEASED))
      : readDocument(base, 'name an OpenAPI 3.1 document after --base', base);
  const after = readDocument('openapi.json', 'write it by npm run openapi', projectPath('openapi.json'));

  if (readFileSync(projectPath('openapi.json'), 'utf8') !== openApiJson()) {
    throw new UsageError('openapi.json is not what the code says: write it anew by npm run openapi first.');
  }
  const changes = differences(before, after);
  for (const line of describeDifferences(changes, before)) console.log(plain(line));
  console.log(conclusionOf(changes, base));
}

function projectPath(file: string): string {
  return fileURLToPath(new URL(file, projectRoot));
}

await runCommand(openapiDiff);
