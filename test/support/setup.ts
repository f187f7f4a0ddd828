import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates the folder that the test files of a run share, unless a test started this run. */
export default function setUp(): void {
  if (process.env['PET_STORE_TEST_RUN']) return;
  const testRunFolder = mkdtempSync(join(tmpdir(), 'pet-store-test-run-'));
  process.env['PET_STORE_TEST_RUN'] = testRunFolder;
  Object.assign(globalThis, { testRunFolder });
}
