import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { plain, runWithOptions, UsageError } from '../command.ts';
import { stages } from '../stages.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { changesSince, withoutReferences } from './changes/differences.ts';
import { withParts } from './document-parts.ts';
import { openApiJson } from './openapi/document.ts';
import { errorList, fieldList, limitTable, operationTable, parameterList, retentionTable } from './tables.ts';

const RELEASED = 'docs/openapi-released.json';
const CHANGELOG = 'docs/changelog.md';

const USAGE = `npm run generate:contract -- [--check] [--release]

Writes openapi.json, openapi-3.0.json and the generated parts of documents.

  --check    writes nothing and fails if a file is outdated
  --release  also releases the contract: writes ${RELEASED}, which npm run openapi:diff compares with;
             ${CHANGELOG} must list the changes under today's date`;

const options = {
  check: { type: 'boolean', default: false },
  release: { type: 'boolean', default: false },
} as const;

await runWithOptions(USAGE, options, ({ check, release }) => {
  if (check && release) throw new UsageError('--check and --release cannot be combined.');
  const outdated = Object.entries(generatedFiles()).filter(([file, text]) => text !== read(file));
  if (check) {
    if (outdated.length === 0) return;
    const names = outdated.map(([file]) => file).join(', ');
    throw new UsageError(`Outdated: ${names}. Run npm run generate.`);
  }
  if (release) outdated.push([RELEASED, releasableContract()]);
  for (const [file, text] of outdated) {
    writeFileSync(inProject(file), text);
    console.log(`Wrote ${file}.`);
  }
  if (outdated.length === 0) console.log('All generated files are up to date.');
});

/** Returns the contract to release. @throws UsageError if a change breaks clients or the changelog lists no changes. */
function releasableContract(): string {
  const contract = openApiJson('3.1.1');
  if (contract === read(RELEASED))
    throw new UsageError('The contract has not changed since the last release.');
  const [breaking] = read(RELEASED) ? changesSince(inProject(RELEASED)).failing : [];
  if (breaking) {
    throw new UsageError(
      `The contract cannot be released. Run npm run openapi:diff to list all problems. The first is: ${plain(breaking)}`,
    );
  }
  const heading = `## ${new Date().toISOString().slice(0, 10)}`;
  if (!read(CHANGELOG).includes(`\n${heading}\n\n- `))
    throw new UsageError(`${CHANGELOG} must list the changes. Add a list under "${heading}".`);
  return contract;
}

function generatedFiles(): Record<string, string> {
  const cacheSeconds = Object.values(stages).map(({ authorizerCacheSeconds }) => authorizerCacheSeconds);
  const cache = { 'authorizer cache': Math.max(...cacheSeconds).toFixed() };
  const contract = withoutReferences(parseJson(openApiJson('3.1.1')));
  const parts: Record<string, Record<string, string>> = {
    'docs/api-keys.md': cache,
    'docs/architecture.md': cache,
    'docs/interface.md': {
      operations: operationTable(),
      fields: fieldList(contract),
      'list parameters': parameterList(contract),
      errors: errorList(),
      limits: limitTable(),
    },
    'docs/security.md': { retention: retentionTable() },
    'README.md': cache,
  };
  const documents = Object.entries(parts).map(([file, texts]) => [file, withParts(file, read(file), texts)]);
  return {
    'openapi.json': openApiJson('3.1.1'),
    'openapi-3.0.json': openApiJson('3.0.4'),
    ...Object.fromEntries(documents),
  };
}

/** Returns the text of a file, or an empty string if the file does not exist. */
function read(file: string): string {
  return existsSync(inProject(file)) ? readFileSync(inProject(file), 'utf8') : '';
}

function inProject(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url));
}
