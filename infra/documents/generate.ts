import { readFileSync, writeFileSync } from 'node:fs';
import { runWithOptions, UsageError } from '../command.ts';
import { stagesOf } from '../settings.ts';
import { stages } from '../stages.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { withParts } from './markdown.ts';
import { openApiJson } from './openapi/document.ts';
import { withoutReferences } from './openapi/schema-objects.ts';
import { errorList, fieldList, limitTable, operationTable, parameterList, retentionTable } from './tables.ts';

const USAGE = `npm run generate:contract -- [--check]

Writes openapi.json, openapi-3.0.json and the generated parts of documents.

  --check  writes nothing and fails if a file is outdated`;

await runWithOptions(USAGE, { check: { type: 'boolean', default: false } }, ({ check }) => {
  const outdated = generatedFiles().filter(([file, text]) => text !== readFileSync(file, 'utf8'));
  if (check && outdated.length > 0)
    throw new UsageError(`Outdated: ${outdated.map(([file]) => file).join(', ')}. Run npm run generate.`);
  for (const [file, text] of outdated) {
    writeFileSync(file, text);
    console.log(`Wrote ${file}.`);
  }
});

function generatedFiles(): [file: string, text: string][] {
  const seconds = Math.max(...stagesOf(stages).map((stage) => stage.authorizerCacheSeconds));
  const cache = { 'authorizer cache': `${seconds}` };
  const contract = withoutReferences(parseJson(openApiJson('3.1.1')));
  const parts: Record<string, Record<string, string>> = {
    'docs/api-keys.md': cache,
    'docs/architecture.md': cache,
    'docs/interface.md': {
      operations: operationTable(contract),
      fields: fieldList(contract),
      'list parameters': parameterList(contract),
      errors: errorList(),
      limits: limitTable(),
    },
    'docs/security.md': { retention: retentionTable() },
    'README.md': cache,
  };
  const documents = Object.entries(parts).map(
    ([file, texts]) => [file, withParts(file, readFileSync(file, 'utf8'), texts)] as [string, string],
  );
  return [['openapi.json', openApiJson('3.1.1')], ['openapi-3.0.json', openApiJson('3.0.4')], ...documents];
}
