import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runWithOptions, UsageError } from '../operate/command.ts';
import { costReport, monthlyDollars } from '../operate/cost/report.ts';
import { withParts } from './document-parts.ts';
import { openApiJson } from './openapi/document.ts';
import { errorTable } from './openapi/introduction.ts';
import { limitTable, listParameterTable, memberTable, operationTable } from './tables.ts';

const USAGE = `npm run generate:contract -- [--check] [--release]

Writes openapi.json, and what documents repeat from the code.

  --check    writes nothing, and fails if a file is stale
  --release  also writes docs/openapi-released.json, the contract that clients have been given and that
             npm run openapi:diff compares with`;

const options = {
  check: { type: 'boolean', default: false },
  release: { type: 'boolean', default: false },
} as const;

await runWithOptions(USAGE, options, ({ check, release }) => {
  const stale = Object.entries(generatedFiles()).filter(([file, text]) => text !== read(file));
  if (check) {
    if (stale.length === 0) return;
    const names = stale.map(([file]) => file).join(', ');
    throw new UsageError(`${names} must be generated again: run npm run generate.`);
  }
  for (const [file, text] of stale) {
    writeFileSync(inProject(file), text);
    console.log(`Wrote ${file}.`);
  }
  if (stale.length === 0) console.log('Nothing has changed.');
  if (release) {
    copyFileSync(inProject('openapi.json'), inProject('docs/openapi-released.json'));
    console.log('Wrote docs/openapi-released.json.');
  }
});

/** Returns the text of each generated file. */
function generatedFiles(): Record<string, string> {
  const parts: Record<string, Record<string, string>> = {
    'docs/interface.md': {
      operations: operationTable(),
      members: memberTable(),
      'list parameters': listParameterTable(),
      errors: errorTable(),
      limits: limitTable(),
    },
    'docs/cost.md': { cost: costReport() },
    'README.md': {
      'idle staging': monthlyDollars('staging', 0).toFixed(),
      'production at 10/s': monthlyDollars('production', 10).toFixed(),
    },
  };
  const documents = Object.entries(parts).map(([file, texts]) => [file, withParts(file, read(file), texts)]);
  return { 'openapi.json': openApiJson(), ...Object.fromEntries(documents) };
}

function read(file: string): string {
  return readFileSync(inProject(file), 'utf8');
}

function inProject(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url));
}
