import { startLocalService } from './local-service.ts';
import setUpFolder from './setup.ts';

/** Starts a local service for HTTP tests unless BASE_URL is set. @throws Error if BASE_URL is set without API_KEY */
export default async function setUp(): Promise<void> {
  setUpFolder();
  if (process.env['BASE_URL']) {
    if (!process.env['API_KEY']) throw new Error('Set API_KEY to an API key for the service at BASE_URL.');
    return;
  }
  const service = await startLocalService();
  process.env['BASE_URL'] = service.baseUrl;
  process.env['API_KEY'] = service.apiKey;
  Object.assign(globalThis, { localService: service });
}
