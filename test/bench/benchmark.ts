import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { projectRoot, runWithOptions, UsageError } from '../../infra/command.ts';
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
  /** Returns the pictures of the document by path. @default - the document has no generated pictures */
  pictures?: (results: Results) => Record<string, string>;
}

/** Processor and Node.js version, which affect all measurements. */
export const machine = `${cpus().length} CPUs (${cpus()[0]?.model.trim()}) with Node ${process.version}`;

const inProject = (path: string) => join(projectRoot, path);

/** Runs a benchmark command that measures, stores the results and updates the document. */
export function runBenchmark<Results>(benchmark: Benchmark<Results>): Promise<void> {
  const { script, purpose, document, measure, parts, pictures = () => ({}) } = benchmark;
  const usage = `npm run ${script} -- [OPTIONS]

Measures ${purpose}, writes the results to test/bench and updates ${document}.
Fails if a response is wrong, but not if a response is slow.

  --quick   measure only a few times, print the figures and write no files
  --report  update the document and its charts from the stored results without measuring
  --check   fail if --report would change a file, and write no files`;
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

    const results: Results = JSON.parse(readFileSync(file, 'utf8'));
    const text = readFileSync(inProject(document), 'utf8');
    const generated: Record<string, string> = {
      [document]: withParts(document, text, parts(results)),
      ...pictures(results),
    };
    for (const [path, content] of Object.entries(generated)) {
      const target = inProject(path);
      if (existsSync(target) && readFileSync(target, 'utf8') === content) continue;
      if (check) throw new UsageError(`${path} is outdated. Run \`npm run ${script} -- --report\`.`);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content);
    }
  });
}
