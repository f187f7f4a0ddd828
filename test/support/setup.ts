import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder that all test files in a run share. A run that a test starts uses the first run's folder. */
export default function setUp(): void {
  if (process.env['PET_STORE_TEST_RUN']) return;
  const testRunFolder = mkdtempSync(join(tmpdir(), 'pet-store-test-run-'));
  process.env['PET_STORE_TEST_RUN'] = testRunFolder;
  Object.assign(globalThis, { testRunFolder });
}
