import { startLocalService } from '../support/local-service.ts';
import setUpRun from '../support/setup.ts';

/** Starts a local service for the HTTP tests. */
export default async function setUp(): Promise<void> {
  setUpRun();
  const service = await startLocalService();
  process.env['BASE_URL'] = service.baseUrl;
  process.env['API_KEY'] = service.apiKey;
  Object.assign(globalThis, { localService: service });
}
