import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readLibrary } from '../../documents/reference/library.ts';
import { referencePage } from '../../documents/reference/page.ts';
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';

interface Sources {
  /** Path of the OpenAPI document. It is read for each request, because it may change while the service runs. */
  openApi: string;
  /** Called on the first request, because it takes a quarter of a second. */
  readLibrary: () => Promise<string>;
}

const ours: Sources = {
  openApi: fileURLToPath(new URL('../../../openapi.json', import.meta.url)),
  readLibrary,
};

/**
 * The API reference, for browsers on this machine that open the address of the service. It includes the key, so requests whose
 * host only resolves to this machine (DNS rebinding) do not get it.
 *
 * @returns undefined for a request to the API.
 */
export function answerBrowser(
  request: HttpRequest,
  apiKey: string,
  sources = ours,
): Promise<HttpResponse> | undefined {
  const isForPage = ['GET', 'HEAD'].includes(request.method) && request.path === '/' && acceptsHtml(request);
  const host = headerValues(request, 'Host').join();
  if (!isForPage || !/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(host)) return undefined;
  return createPage({ baseAddress: `http://${host}/v1`, apiKey }, sources);
}

function acceptsHtml(request: HttpRequest): boolean {
  const ranges = headerValues(request, 'Accept').flatMap((value) => value.split(','));
  return ranges.some((range) => /^\s*text\/html\s*(?:;(?!.*\bq=0(?:\.0*)?\s*$).*)?$/i.test(range));
}

async function createPage(
  service: { baseAddress: string; apiKey: string },
  sources: Sources,
): Promise<HttpResponse> {
  const text = await readFile(sources.openApi, 'utf8').catch(() => undefined);
  if (text === undefined) {
    return explain('There is no openapi.json: write it with <code>npm run openapi</code>.');
  }
  const library = await sources.readLibrary().catch(() => undefined);
  if (library === undefined) {
    return explain('The library that renders this page is not installed: run <code>npm ci</code>.');
  }
  try {
    const { html, contentSecurityPolicy } = referencePage(text, { library, service });
    return respond(200, html, contentSecurityPolicy);
  } catch {
    return explain('openapi.json is not an OpenAPI document: write it with <code>npm run openapi</code>.');
  }
}

function explain(sentence: string): HttpResponse {
  const html = `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Pet store</title>\n<p>${sentence}</p>\n</html>\n`;
  return respond(500, html, "default-src 'none'");
}

function respond(status: number, body: string, contentSecurityPolicy: string): HttpResponse {
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': `${contentSecurityPolicy}; frame-ancestors 'none'`,
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    },
    body,
  };
}
