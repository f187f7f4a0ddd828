import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for what the test files of one run share. */
export default function setUp(): void {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-test-run-'));
  process.env['PET_STORE_TEST_RUN'] = folder;
  // Half of what a command takes is compiling the SDK; the processes of one run share what comes of it.
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
}
