import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

interface FileResult {
  testFilePath: string;
  failureMessage?: string | null;
  perfStats: { start: number; end: number };
  numPassingTests: number;
  numFailingTests: number;
  numPendingTests: number;
}

/** Jest reporter that prints a table with one row per proof file. */
export default class ProofsReporter {
  onRunComplete(_contexts: unknown, { testResults }: { testResults: FileResult[] }): void {
    const rows = testResults.map((file): [string, ReturnType<typeof rowOf>] => [
      relative(join(import.meta.dirname, '..'), file.testFilePath).replace('.proof.ts', ''),
      rowOf(file),
    ]);
    console.table(Object.fromEntries(rows.toSorted(([one], [other]) => one.localeCompare(other))));
  }
}

function rowOf(file: FileResult) {
  const { testFilePath, failureMessage, perfStats } = file;
  const figure = fileOf(testFilePath);
  return {
    passed: file.numPassingTests,
    failed: failureMessage ? file.numFailingTests || 1 : 0,
    skipped: file.numPendingTests,
    seconds: Math.round((perfStats.end - perfStats.start) / 1000),
    figure: existsSync(figure) ? readFileSync(figure, 'utf8') : '',
  };
}

/**
 * Adds a figure to a proof file's row in the table that `npm run proofs` prints.
 *
 * @param testPath `import.meta.filename` of the proof file
 */
export function reportFigure(testPath: string, figure: string): void {
  writeFileSync(fileOf(testPath), figure);
}

function fileOf(testPath: string): string {
  return join(process.env['PET_STORE_TEST_RUN']!, `${basename(testPath)}.figure`);
}
