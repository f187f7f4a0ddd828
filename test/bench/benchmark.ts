import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { runWithOptions, UsageError } from '../../infra/command.ts';
import { withParts } from '../../infra/documents/markdown.ts';

interface Benchmark<Results> {
  /** Name of the npm script. */
  script: string;
  /** What the benchmark measures, for the usage text. */
  purpose: string;
  /** Name of the file in `test/bench` that stores the results. */
  results: string;
  /** Path of the document that contains the generated parts. */
  document: string;
  measure: (isQuick: boolean) => Promise<Results>;
  /** Returns the generated parts of the document by name. */
  parts: (results: Results) => Record<string, string>;
}

/** Processor and Node.js version, which affect all measurements. */
export const machine = `${cpus().length} CPUs (${cpus()[0]?.model.trim()}) with Node ${process.version}`;

/** Runs a benchmark command that measures, stores the results and updates the document. */
export function runBenchmark<Results>(benchmark: Benchmark<Results>): Promise<void> {
  const { script, purpose, document, measure, parts } = benchmark;
  const usage = `npm run ${script} -- [OPTIONS]

Measures ${purpose}, writes the results to test/bench and updates ${document}.
Fails if a response is wrong, but not if a response is slow.

  --quick   measure only a few times, print the figures and write no files
  --report  update the document from the stored results without measuring
  --check   fail if --report would change the document, and write no files`;
  const options = {
    quick: { type: 'boolean' },
    report: { type: 'boolean' },
    check: { type: 'boolean' },
  } as const;
  return runWithOptions(usage, options, async ({ quick = false, report, check }) => {
    const file = new URL(benchmark.results, import.meta.url);
    if (!report && !check) {
      const results = await measure(quick);
      console.log(Object.values(parts(results)).join('\n'));
      if (quick) return;
      writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
    }

    const documentFile = new URL(`../../${document}`, import.meta.url);
    const text = readFileSync(documentFile, 'utf8');
    const generated = withParts(document, text, parts(JSON.parse(readFileSync(file, 'utf8'))));
    if (!check) writeFileSync(documentFile, generated);
    else if (generated !== text)
      throw new UsageError(`${document} is stale. Run \`npm run ${script} -- --report\`.`);
  });
}
