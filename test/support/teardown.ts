import { rmSync } from 'node:fs';
import type { LocalService } from './local-service.ts';

/** Ends what the set-up files have started. Jest calls this once for all projects that name it. */
export default async function tearDown(): Promise<void> {
  const started = globalThis as { localService?: LocalService; testRunFolder?: string };
  await started.localService?.stop();
  if (started.testRunFolder) rmSync(started.testRunFolder, { recursive: true, force: true });
}
