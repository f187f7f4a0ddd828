import { rmSync } from 'node:fs';
import type { LocalService } from './local-service.ts';

/** Stops the local service and removes the shared folder. Jest calls this function once for all projects. */
export default async function tearDown(): Promise<void> {
  const started = globalThis as { localService?: LocalService; testRunFolder?: string };
  await started.localService?.stop();
  if (started.testRunFolder) rmSync(started.testRunFolder, { recursive: true, force: true });
}
