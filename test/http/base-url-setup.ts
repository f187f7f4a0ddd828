import { UsageError } from '../../infra/command.ts';
import { requireBaseUrl } from '../../infra/operate/base-url.ts';
import setUpLocalService from './setup.ts';

/**
 * Prepares HTTP tests of the service at BASE_URL, or starts a local service if BASE_URL is not set. The tests keep all
 * environment variables, because a proxy or a certificate can be necessary to reach the service.
 *
 * @throws Error if BASE_URL is set without API_KEY
 * @throws UsageError if BASE_URL is not a base URL, or if the service does not respond
 */
export default async function setUp(): Promise<void> {
  const { BASE_URL: givenUrl, API_KEY: givenKey } = process.env;
  if (!givenUrl) return setUpLocalService();
  if (!givenKey) throw new Error('Set API_KEY to an API key for the service at BASE_URL.');
  const baseUrl = requireBaseUrl(givenUrl);
  process.env['BASE_URL'] = baseUrl;
  // Without this check, each test would fail with an error of its own. Any response is enough, because a stage can
  // throttle this request.
  await fetch(baseUrl, { redirect: 'manual' }).catch((cause: Error) => {
    throw new UsageError(`${baseUrl} does not respond. Check BASE_URL.`, { cause });
  });
}
