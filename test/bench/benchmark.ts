import { readFileSync, writeFileSync } from 'node:fs';
import { withParts } from '../../infra/documents/document-parts.ts';
import { runWithOptions, UsageError } from '../../infra/operate/command.ts';

interface Benchmark<Results> {
  /** The npm script. */
  script: string;
  /** The file of results, in this folder. */
  file: string;
  /** Documents with their generated parts by name, see `withParts`. */
  documents: (results: Results) => Record<string, Record<string, string>>;
  /** Measures, or returns undefined if there is nothing to keep. */
  measure: (quick: boolean) => Promise<Results | undefined>;
}

const options = {
  quick: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
} as const;

/** Runs the command of a benchmark: it measures, keeps the results, and writes the documents that show them. */
export function runBenchmark<Results>(benchmark: Benchmark<Results>): Promise<void> {
  const { script, file, documents, measure } = benchmark;
  const usage = `npm run ${script} -- [--quick | --report [--check]]

  --quick   measure the most important figures, print them and write nothing
  --report  measure nothing: write what documents show of test/bench/${file}
  --check   write nothing, and fail if --report would change a file

Without options it measures everything and writes test/bench/${file} and what --report writes.
Fails if a response is wrong, however long any response takes.`;
  return runWithOptions(usage, options, async ({ quick, report, check }) => {
    if (report || check) return publish(script, documents(readResults(file)), check);
    const results = await measure(quick);
    if (!results) return;
    writeFileSync(new URL(file, import.meta.url), `${JSON.stringify(results, undefined, 2)}\n`);
    publish(script, documents(results), false);
  });
}

export function readResults(file: string): any {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}

/** @throws UsageError if a document lacks a part, or is stale although it may not be written */
function publish(script: string, documents: Record<string, Record<string, string>>, check: boolean): void {
  for (const [name, parts] of Object.entries(documents)) {
    const file = new URL(`../../${name}`, import.meta.url);
    const text = readFileSync(file, 'utf8');
    const generated = withParts(name, text, parts);
    if (!check) writeFileSync(file, generated);
    else if (generated !== text)
      throw new UsageError(`${name} must be generated again: run npm run ${script} -- --report.`);
  }
}
