import { readFileSync, writeFileSync } from 'node:fs';
import { runWithOptions, UsageError } from '../command.ts';
import { openApiJson } from './document.ts';

const USAGE = `npm run generate -- [--check]

Writes openapi.json from the operations in shared/contract.

  --check  writes nothing and fails if the file is outdated`;

await runWithOptions(USAGE, { check: { type: 'boolean', default: false } }, ({ check }) => {
  const text = openApiJson();
  if (text === readFileSync('openapi.json', 'utf8')) return;
  if (check) throw new UsageError('openapi.json is outdated. Run npm run generate.');
  writeFileSync('openapi.json', text);
  console.log('Wrote openapi.json.');
});
