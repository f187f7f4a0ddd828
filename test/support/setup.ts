import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder that all test files in a run share. If a test starts another run, both runs use the same folder. */
export default function setUp(): void {
  if (process.env['PET_STORE_TEST_RUN']) return;
  const testRunFolder = mkdtempSync(join(tmpdir(), 'pet-store-test-run-'));
  process.env['PET_STORE_TEST_RUN'] = testRunFolder;
  Object.assign(globalThis, { testRunFolder });
}
