import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Has the closing table of `npm run proofs` show this figure.
 *
 * @param testPath the test file that it belongs to: `import.meta.filename`.
 */
export function reportFigure(testPath: string, figure: string): void {
  writeFileSync(fileOf(testPath), figure);
}

/** @returns undefined if the test file reported none. */
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
