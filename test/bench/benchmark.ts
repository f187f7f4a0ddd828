import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { withParts } from '../../infra/documents/markdown.ts';
import { runWithOptions, UsageError } from '../../infra/command.ts';

interface Measurement {
  purpose: string;
  measure: (quick: boolean) => Promise<any>;
  /** Returns the generated parts of each document. After measuring, the command prints the first document's parts. */
  documents: (results: any) => Record<string, Record<string, string>>;
}

/** Processor and Node.js version, which affect all measurements. */
export const machine = `${cpus().length} CPUs (${cpus()[0]?.model.trim()}) with Node ${process.version}`;

const fileOf = (name: string) => new URL(`${name}.json`, import.meta.url);

/**
 * Runs a benchmark command that measures, stores the results in `test/bench/NAME.json` and updates the documents.
 *
 * @param measurements measurements by name. The first is the default, and `--NAME` selects another measurement.
 */
export function runBenchmark(script: string, measurements: Record<string, Measurement>) {
  const [first = '', ...others] = Object.keys(measurements);
  const selections = others.map((name) => `  --${name}  measure ${measurements[name]!.purpose} instead\n`);
  const usage = `npm run ${script} -- [OPTIONS]

Measures ${measurements[first]!.purpose}, writes the results to test/bench and updates the documents.
Fails if a response is wrong, but not if a response is slow.

${selections.join('')}  --quick   measure only the most important figures, print them and write no files
  --report  update the documents from the stored results without measuring
  --check   fail if --report would change a document, and write no files`;
  const names = ['quick', 'report', 'check', ...others];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'boolean' } as const]));
  return runWithOptions(usage, options, async (values) => {
    const selected = others.find((name) => values[name]) ?? first;
    if (!values['report'] && !values['check']) {
      const { measure, documents } = measurements[selected]!;
      const results = await measure(values['quick'] ?? false);
      const [parts = {}] = Object.values(documents(results));
      console.log(Object.values(parts).join('\n'));
      if (values['quick']) return;
      writeFileSync(fileOf(selected), `${JSON.stringify(results, undefined, 2)}\n`);
    }
    for (const [name, { documents }] of Object.entries(measurements)) {
      const parts = documents(JSON.parse(readFileSync(fileOf(name), 'utf8')));
      Object.entries(parts).forEach(([document, each]) => publish(script, document, each, values['check']));
    }
  });
}

/** @throws UsageError if the document has no markers for a part, or if `check` is true and the document is stale */
function publish(script: string, document: string, parts: Record<string, string>, check = false): void {
  const file = new URL(`../../${document}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const generated = withParts(document, text, parts);
  if (!check) writeFileSync(file, generated);
  else if (generated !== text)
    throw new UsageError(`${document} is stale. Run \`npm run ${script} -- --report\`.`);
}
