import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Adds a figure to the row that the closing table of `npm run proofs` has for a test file.
 *
 * @param testPath `import.meta.filename` of the test file
 */
export function reportFigure(testPath: string, figure: string): void {
  writeFileSync(fileOf(testPath), figure);
}

/** @returns the figure of a test file, or undefined if it reported none */
export function figureOf(testPath: string): string | undefined {
  try {
    return readFileSync(fileOf(testPath), 'utf8');
  } catch {
    return undefined;
  }
}

function fileOf(testPath: string): string {
  return join(process.env['PET_STORE_TEST_RUN']!, `${basename(testPath)}.figure`);
}
