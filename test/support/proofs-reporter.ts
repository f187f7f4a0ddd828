import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figureOf } from './figures.ts';

const testFolder = fileURLToPath(new URL('..', import.meta.url));

interface Part {
  testFilePath: string;
  failureMessage?: string | null;
  perfStats: { start: number; end: number };
  numPassingTests: number;
  numFailingTests: number;
  numPendingTests: number;
}

/** A Jest reporter that prints a row for each part of the proofs. */
export default class ProofsReporter {
  onRunComplete(_contexts: unknown, { testResults }: { testResults: Part[] }): void {
    const parts = testResults.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
    console.table(Object.fromEntries(parts.map((part) => [nameOf(part), rowOf(part)])));
  }
}

function nameOf({ testFilePath }: Part): string {
  return relative(testFolder, testFilePath).replace('.proof.ts', '');
}

function rowOf(part: Part) {
  return {
    passed: part.numPassingTests,
    failed: part.failureMessage ? part.numFailingTests || 1 : 0,
    skipped: part.numPendingTests,
    seconds: Math.round((part.perfStats.end - part.perfStats.start) / 1000),
    figure: figureOf(part.testFilePath) ?? '',
  };
}
