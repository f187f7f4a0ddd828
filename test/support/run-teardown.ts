import { rmSync } from 'node:fs';

export default function tearDown(): void {
  rmSync(process.env['PET_STORE_TEST_RUN']!, { recursive: true, force: true });
}
