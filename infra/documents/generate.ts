import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../operate/command.ts';
import { costReport, monthlyDollars } from '../operate/cost/report.ts';
import { withParts } from './document-parts.ts';
import { openApiJson } from './openapi/document.ts';
import { errorTable } from './openapi/introduction.ts';
import { limitTable, listParameterTable, memberTable, operationTable } from './tables.ts';

// `npm run generate`: writes what follows from the code.

const USAGE = `npm run generate -- [--check] [--release]

  --check    writes nothing, and fails if a file is stale
  --release  also writes docs/openapi-released.json, the contract that clients have been given and that
             npm run openapi:diff compares with`;

/** Parts of documents, see `withParts`. */
function documentParts(): Record<string, Record<string, string>> {
  return {
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
}

async function generate(): Promise<void> {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      release: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);

  const stale = staleFiles();
  if (values.check) {
    if (stale.size === 0) return;
    throw new UsageError(`${[...stale.keys()].join(', ')} must be generated again: run npm run generate.`);
  }
  for (const [file, text] of stale) {
    writeFileSync(projectPath(file), text);
    console.log(`Wrote ${file}.`);
  }
  if (stale.size === 0) console.log('Nothing has changed.');
  if (values.release) {
    copyFileSync(projectPath('openapi.json'), projectPath('docs/openapi-released.json'));
    console.log('Wrote docs/openapi-released.json.');
  }
}

/** The new text of each file whose text is another. */
function staleFiles(): Map<string, string> {
  const documents = Object.entries(documentParts()).map(
    ([file, parts]) => [file, withParts(file, read(file), parts)] as const,
  );
  const files = [['openapi.json', openApiJson()] as const, ...documents];
  return new Map(files.filter(([file, text]) => text !== read(file)));
}

function read(file: string): string {
  return readFileSync(projectPath(file), 'utf8');
}

function projectPath(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url));
}

await runCommand(generate);
