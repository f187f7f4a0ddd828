import { UsageError } from '../command.ts';
import { send } from './send.ts';

/**
 * Returns the value of BASE_URL without white space around it and slashes at its end.
 *
 * @throws UsageError if the text is not a URL, if an API key would leave this machine unencrypted, or if the URL
 *   contains credentials or does not end with /v1
 */
export function requireBaseUrl(text: string): string {
  const url = URL.parse(text.trim());
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)))
    throw new UsageError(
      'BASE_URL must be an https URL, or an http URL with a loopback host, such as http://localhost:3000/v1.',
    );
  if (url.username || url.password) throw new UsageError('BASE_URL must contain no user name or password.');
  // Without the lookbehind, a long run of slashes inside the path, not at its end, would take quadratic time.
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  if (!path.endsWith('/v1') || url.search || url.hash) throw new UsageError('BASE_URL must end with /v1.');
  return `${url.origin}${path}`;
}

/**
 * Requests a list, so that a wrong base URL or API key is reported once, and not by each later request.
 *
 * @param collection collection to list. Its path starts with /v1, with which the base URL ends.
 * @throws UsageError if the service returns no list
 */
export async function requireService(
  baseUrl: string,
  apiKey: string,
  { plural, path }: { plural: string; path: string },
): Promise<void> {
  const headers = { Authorization: `Bearer ${apiKey}` };
  const { status, reason } = await send(`${baseUrl}${path.replace('/v1', '')}?limit=1`, { headers });
  if (status === 200) return;
  throw new UsageError(`${baseUrl} returned no list of ${plural}. ${reason} Check BASE_URL and API_KEY.`);
}
