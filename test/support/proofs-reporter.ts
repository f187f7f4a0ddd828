import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Names of parts by their folder or file in `test/`. The name of any other file is that of its part. */
const parts = {
  'bench/load': 'load',
  bench: 'benchmark',
  browser: 'page',
  'clients/generated': 'generated clients',
  clients: 'clients',
  'infra/local/watch': 'hot reload',
  'infra/operate/keys': 'key commands',
  'infra/operate/seed': 'seed',
  'infra/stack/synth': 'synthesis',
  'reliability/rotation': 'key rotation',
};

interface FileResult {
  testFilePath: string;
  failureMessage?: string | null;
  perfStats: { start: number; end: number };
  numPassingTests: number;
  numFailingTests: number;
  numPendingTests: number;
}

/** A Jest reporter that prints a row for each part of the proofs. */
export default class ProofsReporter {
  onRunComplete(_contexts: unknown, { testResults }: { testResults: FileResult[] }): void {
    const byPart = Object.entries(Object.groupBy(testResults, partOf)).toSorted(([one], [other]) =>
      one.localeCompare(other),
    );
    console.table(Object.fromEntries(byPart.map(([part, files]) => [part, rowOf(files!)])));
  }
}

function partOf({ testFilePath }: FileResult): string {
  const path = relative(fileURLToPath(new URL('..', import.meta.url)), testFilePath);
  const part = Object.entries(parts).find(([start]) => path.startsWith(start));
  return part?.[1] ?? basename(path, '.proof.ts');
}

function rowOf(files: FileResult[]) {
  const sum = (numberOf: (file: FileResult) => number) =>
    files.reduce((total, file) => total + numberOf(file), 0);
  const figures = files.map((file) => fileOf(file.testFilePath)).filter((file) => existsSync(file));
  return {
    passed: sum((file) => file.numPassingTests),
    failed: sum((file) => (file.failureMessage ? file.numFailingTests || 1 : 0)),
    skipped: sum((file) => file.numPendingTests),
    seconds: Math.round(sum(({ perfStats: { start, end } }) => end - start) / 1000),
    figure: figures.map((file) => readFileSync(file, 'utf8')).join(', '),
  };
}

/**
 * Adds a figure to the row that the closing table of `npm run proofs` has for a test file.
 *
 * @param testPath `import.meta.filename` of the test file
 */
export function reportFigure(testPath: string, figure: string): void {
  writeFileSync(fileOf(testPath), figure);
}

function fileOf(testPath: string): string {
  return join(process.env['PET_STORE_TEST_RUN']!, `${basename(testPath)}.figure`);
}
