import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { plain, runWithOptions, UsageError } from '../operate/command.ts';
import { costReport, monthlyDollars } from '../operate/cost/report.ts';
import { changesSince } from './changes/since.ts';
import { withParts } from './document-parts.ts';
import { openApiJson } from './openapi/document.ts';
import {
  errorTable,
  limitTable,
  listParameterTable,
  fieldTable,
  operationTable,
  retentionTable,
} from './tables.ts';

const RELEASED = 'docs/openapi-released.json';
const CHANGELOG = 'docs/changelog.md';

const USAGE = `npm run generate:contract -- [--check] [--release]

Writes openapi.json, openapi-3.0.json, and what documents repeat from the code.

  --check    writes nothing, and fails if a file is stale
  --release  also publishes the contract, whose changes ${CHANGELOG} must list under the heading of today: writes
             ${RELEASED}, which npm run openapi:diff compares with`;

const options = {
  check: { type: 'boolean', default: false },
  release: { type: 'boolean', default: false },
} as const;

await runWithOptions(USAGE, options, ({ check, release }) => {
  if (check && release) throw new UsageError('--check and --release exclude each other.');
  const stale = Object.entries(generatedFiles()).filter(([file, text]) => text !== read(file));
  if (check) {
    if (stale.length === 0) return;
    const names = stale.map(([file]) => file).join(', ');
    throw new UsageError(`${names} must be generated again: run npm run generate.`);
  }
  if (release) stale.push([RELEASED, releasableContract()]);
  for (const [file, text] of stale) {
    writeFileSync(inProject(file), text);
    console.log(`Wrote ${file}.`);
  }
  if (stale.length === 0) console.log('Nothing has changed.');
});

/** Returns the contract to publish. @throws UsageError if it would break clients, or does not say what has changed. */
function releasableContract(): string {
  const contract = openApiJson('3.1.1');
  if (contract === read(RELEASED))
    throw new UsageError('The contract has not changed since the last release.');
  const [breaking] = changesSince(inProject(RELEASED)).failing;
  if (breaking) {
    throw new UsageError(
      `This may break clients; npm run openapi:diff lists all such changes: ${plain(breaking)}`,
    );
  }
  const heading = `## ${new Date().toISOString().slice(0, 10)}`;
  if (!read(CHANGELOG).includes(`\n${heading}\n\n- `))
    throw new UsageError(`Tell clients what has changed: add a list to ${CHANGELOG}, under "${heading}".`);
  return contract;
}

/** Returns the text of each generated file. */
function generatedFiles(): Record<string, string> {
  const parts: Record<string, Record<string, string>> = {
    'docs/interface.md': {
      operations: operationTable(),
      members: fieldTable(),
      'list parameters': listParameterTable(),
      errors: errorTable(),
      limits: limitTable(),
    },
    'docs/cost.md': { cost: costReport() },
    'docs/security.md': { retention: retentionTable() },
    'README.md': {
      'idle staging': monthlyDollars('staging', 0).toFixed(),
      'production at 10/s': monthlyDollars('production', 10).toFixed(),
    },
  };
  const documents = Object.entries(parts).map(([file, texts]) => [file, withParts(file, read(file), texts)]);
  return {
    'openapi.json': openApiJson('3.1.1'),
    'openapi-3.0.json': openApiJson('3.0.4'),
    ...Object.fromEntries(documents),
  };
}

/** Returns the text of a file, which is empty if the file is yet to be generated. */
function read(file: string): string {
  return existsSync(inProject(file)) ? readFileSync(inProject(file), 'utf8') : '';
}

function inProject(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url));
}
