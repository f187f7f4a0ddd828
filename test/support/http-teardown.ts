import type { LocalService } from './local-service.ts';

export default async function tearDown(): Promise<void> {
  await (globalThis as { localService?: LocalService }).localService?.stop();
}
