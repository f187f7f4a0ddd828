import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for what the test files of one run share. */
export default function setUp(): void {
  process.env['PET_STORE_TEST_RUN'] = mkdtempSync(join(tmpdir(), 'pet-store-test-run-'));
}
