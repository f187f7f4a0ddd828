import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runWithOptions, UsageError } from '../operate/command.ts';
import { costReport, monthlyDollars } from '../operate/cost/report.ts';
import { openApiJson } from './openapi/document.ts';
import { errorTable } from './openapi/introduction.ts';
import { limitTable, listParameterTable, memberTable, operationTable } from './tables.ts';

const USAGE = `npm run generate -- [--check] [--release]

Writes openapi.json, and what documents repeat from the code.

  --check    writes nothing, and fails if a file is stale
  --release  also writes docs/openapi-released.json, the contract that clients have been given and that
             npm run openapi:diff compares with`;

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

const options = {
  check: { type: 'boolean', default: false },
  release: { type: 'boolean', default: false },
} as const;

await runWithOptions(USAGE, options, ({ check, release }) => {
  const documents = Object.keys(documentParts).map((file): [string, string] => [file, withParts(file)]);
  const generated = new Map([['openapi.json', openApiJson()], ...documents]);
  const stale = [...generated].filter(([file, text]) => text !== readFileSync(inProject(file), 'utf8'));
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

/** @throws UsageError if the document lacks the marks of a part. */
function withParts(file: string): string {
  return Object.entries(documentParts[file]!).reduce(
    (document, [name, part]) => {
      const mark = `<!-- generated: ${name} -->`;
      const [before, after] = document.split(mark);
      const end = after?.indexOf('<!-- end -->') ?? -1;
      if (end < 0) throw new UsageError(`${file} lacks the marks ${mark} and <!-- end -->.`);
      const generated = part();
      // A table has lines of its own, a figure is part of a sentence.
      const lineBreak = generated.endsWith('\n') ? '\n' : '';
      return `${before}${mark}${lineBreak}${generated}${after!.slice(end)}`;
    },
    readFileSync(inProject(file), 'utf8'),
  );
}

function inProject(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url));
}
