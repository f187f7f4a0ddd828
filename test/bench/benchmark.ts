import { readFileSync, writeFileSync } from 'node:fs';
import { withParts } from '../../infra/documents/markdown.ts';
import { runWithOptions, UsageError } from '../../infra/command.ts';

interface Benchmark<Results> {
  script: string;
  /** Name of the results file in `test/bench`. */
  file: string;
  /** Returns the generated parts of each document for `withParts`. A measurement prints the first document's parts. */
  documents: (results: Results) => Record<string, Record<string, string>>;
  measure: (quick: boolean) => Promise<Results>;
}

const options = {
  quick: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
} as const;

/** Runs a benchmark command that measures, stores the results and updates the documents. */
export function runBenchmark<Results>({ script, file, documents, measure }: Benchmark<Results>) {
  const usage = `npm run ${script} -- [--quick | --report [--check]]

  --quick   measure only the most important figures, print them and write no files
  --report  update the documents from the stored results without measuring
  --check   fail if --report would change a document, and write no files

Without options, the command measures everything, writes test/bench/${file} and updates the documents.
It fails if a response is wrong, but not if a response is slow.`;
  return runWithOptions(usage, options, async ({ quick, report, check }) => {
    const stored = new URL(file, import.meta.url);
    if (report || check) return publish(script, documents(JSON.parse(readFileSync(stored, 'utf8'))), check);
    const results = await measure(quick);
    const [figures = {}] = Object.values(documents(results));
    console.log(Object.values(figures).join('\n'));
    if (quick) return;
    writeFileSync(stored, `${JSON.stringify(results, undefined, 2)}\n`);
    publish(script, documents(results), false);
  });
}

/** @throws UsageError if a document has no markers for a part, or if `check` is true and a document is stale */
function publish(script: string, documents: Record<string, Record<string, string>>, check: boolean): void {
  for (const [name, parts] of Object.entries(documents)) {
    const file = new URL(`../../${name}`, import.meta.url);
    const text = readFileSync(file, 'utf8');
    const generated = withParts(name, text, parts);
    if (!check) writeFileSync(file, generated);
    else if (generated !== text)
      throw new UsageError(`${name} is stale. Run \`npm run ${script} -- --report\`.`);
  }
}
