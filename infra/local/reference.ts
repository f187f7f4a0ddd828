import { readFile } from 'node:fs/promises';
import { referencePage } from '../documents/reference/page.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './emulator/gateway/http-message.ts';

/**
 * Returns the reference page if a browser requests the root URL of the service, and undefined otherwise. The page
 * contains the API key. To prevent DNS rebinding attacks, the Host header must be a localhost address.
 *
 * @param file URL or path of openapi.json, which is read for each page because developers can regenerate it
 */
export async function respondToBrowser(
  request: HttpRequest,
  apiKey: string,
  file: URL | string = new URL('../../openapi.json', import.meta.url),
): Promise<HttpResponse | undefined> {
  const acceptsHtml = headerValues(request, 'Accept').some((value) => value.includes('text/html'));
  const isForPage = ['GET', 'HEAD'].includes(request.method) && request.path === '/' && acceptsHtml;
  const host = headerValues(request, 'Host').join();
  if (!isForPage || !/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(host)) return undefined;
  const service = { baseUrl: `http://${host}/v1`, apiKey };
  const { html, contentSecurityPolicy } = referencePage(await readFile(file, 'utf8'), service);
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': `${contentSecurityPolicy}; frame-ancestors 'none'`,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
    },
    body: html,
  };
}
