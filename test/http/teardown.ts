import type { LocalService } from '../support/local-service.ts';

/** Stops the local service of the HTTP tests. Jest calls this function once, even for several Jest projects. */
export default async function tearDown(): Promise<void> {
  await (globalThis as { localService?: LocalService }).localService?.stop();
}
