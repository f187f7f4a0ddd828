import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../operate/command.ts';
import { costReport, monthlyDollars } from '../operate/cost/report.ts';
import { openApiJson } from './openapi/document.ts';
import { errorTable } from './openapi/introduction.ts';
import { limitTable, listParameterTable, memberTable, operationTable } from './tables.ts';

// `npm run generate`: writes what follows from the code.

const USAGE = `npm run generate -- [--check] [--release]

  --check    writes nothing, and fails if a file is stale
  --release  also writes docs/openapi-released.json, the contract that clients have been given and that
             npm run openapi:diff compares with`;

/** Files that are generated as a whole. */
const wholeFiles: Record<string, () => string> = { 'openapi.json': openApiJson };

/** Parts of documents, each between the marks `<!-- generated: NAME -->` and `<!-- end -->`. */
const documentParts: Record<string, Record<string, () => string>> = {
  'docs/interface.md': {
    operations: operationTable,
    members: memberTable,
    'list parameters': listParameterTable,
    errors: errorTable,
    limits: limitTable,
  },
  'docs/cost.md': { cost: costReport },
  'README.md': {
    'idle staging': () => monthlyDollars('staging', 0).toFixed(),
    'production at 10/s': () => monthlyDollars('production', 10).toFixed(),
  },
};

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
  const whole = Object.entries(wholeFiles).map(([file, text]) => [file, text()] as const);
  const inParts = Object.entries(documentParts).map(
    ([file, parts]) => [file, withParts(file, readFileSync(projectPath(file), 'utf8'), parts)] as const,
  );
  return new Map(
    [...whole, ...inParts].filter(([file, text]) => text !== readFileSync(projectPath(file), 'utf8')),
  );
}

/** @throws UsageError when the document lacks the marks of a part. */
function withParts(file: string, text: string, parts: Record<string, () => string>): string {
  return Object.entries(parts).reduce((document, [name, part]) => {
    const mark = `<!-- generated: ${name} -->`;
    const [before, after] = document.split(mark);
    const end = after?.indexOf('<!-- end -->') ?? -1;
    if (end < 0) throw new UsageError(`${file} lacks the marks ${mark} and <!-- end -->.`);
    const generated = part();
    // A table stands in lines of its own, a figure within its sentence.
    const isBlock = generated.endsWith('\n');
    return `${before}${mark}${isBlock ? '\n' : ''}${generated}${after!.slice(end)}`;
  }, text);
}

function projectPath(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url));
}

await runCommand(generate);
