import { readFileSync, writeFileSync } from 'node:fs';
import { runWithOptions, UsageError } from '../command.ts';
import { stages } from '../stages.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { clientParts } from './clients.ts';
import { contentsOfStages } from './cost/contents.ts';
import { costParts } from './cost/cost.ts';
import { interfaceParts } from './interface.ts';
import { markdownTable, withParts } from './markdown.ts';
import { openApiJson } from './openapi/document.ts';
import { withoutReferences } from './openapi/references.ts';
import { runbookParts } from './runbook.ts';
import { scalingParts } from './scaling.ts';

const USAGE = `node infra/documents/generate.ts [--check]

Writes openapi.json and the generated parts of documents.

  --check  writes nothing and fails if a file is outdated`;

async function generatedFiles(): Promise<[file: string, text: string][]> {
  const openApi = openApiJson();
  const contract = withoutReferences(parseJson(openApi));
  const contents = await contentsOfStages();
  const parts = [
    ...Object.entries(costParts(contents)),
    ...Object.entries(scalingParts(contents)),
    ...Object.entries(interfaceParts(contract)),
    ...Object.entries(clientParts()),
    ...Object.entries(runbookParts()),
    ...Object.entries({
      'docs/backups.md': { retention: retentionTable(['recoveryDays']) },
      'docs/security.md': { retention: retentionTable(['logRetentionDays', 'recoveryDays']) },
    }),
  ];
  const documents = new Map<string, string>();
  for (const [file, texts] of parts)
    documents.set(file, withParts(file, documents.get(file) ?? readFileSync(file, 'utf8'), texts));
  return [['openapi.json', openApi], ...documents];
}

function retentionTable(names: ('logRetentionDays' | 'recoveryDays')[]): string {
  const rows = Object.entries(stages).map(([stage, all]) => [stage, ...names.map((name) => `${all[name]}`)]);
  return markdownTable(['stage', ...names.map((name) => `\`${name}\``)], rows, '---');
}

await runWithOptions(USAGE, { check: { type: 'boolean', default: false } }, async ({ check }) => {
  const files = await generatedFiles();
  const outdated = files.filter(([file, text]) => text !== readFileSync(file, 'utf8'));
  if (check && outdated.length > 0)
    throw new UsageError(`Outdated: ${outdated.map(([file]) => file).join(', ')}. Run npm run generate.`);
  for (const [file, text] of outdated) {
    writeFileSync(file, text);
    console.log(`Wrote ${file}.`);
  }
});
