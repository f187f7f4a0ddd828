import { readFile } from 'node:fs/promises';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { asOpenApi30 } from '../openapi/openapi-3.0.ts';
import { localServers, referencePage } from '../openapi/reference-page.ts';
import {
  headerValues,
  type HttpRequest,
  type HttpResponse,
  localHost,
} from './emulator/gateway/http-message.ts';

/**
 * Responds to requests for the local service's documentation: `/openapi.json`, `/openapi-3.0.json` and the reference
 * page, which browsers get from the root URL. These requests need no API key.
 *
 * The page contains the API key. The Host header must therefore be a localhost address, so that no website can read the
 * key with a DNS rebinding attack.
 *
 * @param file URL or path of openapi.json, which is read for each response because developers can regenerate it
 * @returns the response, or undefined if the API must respond
 */
export async function respondWithDocumentation(
  request: HttpRequest,
  apiKey: string,
  file: URL | string = new URL('../../openapi.json', import.meta.url),
): Promise<HttpResponse | undefined> {
  const host = localHost(request);
  if (!host || !['GET', 'HEAD'].includes(request.method)) return undefined;

  const baseUrl = `http://${host}/v1`;
  const acceptsHtml = headerValues(request, 'Accept').some((value) => value.includes('text/html'));
  if (request.path === '/' && acceptsHtml) return pageResponse(await readFile(file, 'utf8'), baseUrl, apiKey);
  if (request.path === '/openapi.json') return jsonResponse(await readOpenApi(file, baseUrl));
  if (request.path === '/openapi-3.0.json')
    return jsonResponse(asOpenApi30(await readOpenApi(file, baseUrl)));
  return undefined;
}

function pageResponse(openApi: string, baseUrl: string, apiKey: string): HttpResponse {
  const { html, contentSecurityPolicy } = referencePage(openApi, { baseUrl, apiKey });
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

function jsonResponse(value: unknown): HttpResponse {
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' },
    body: `${stringifyJson(value, 2)}\n`,
  };
}

/** Returns the OpenAPI document with the local service as its only server, so that tools send their requests there. */
async function readOpenApi(file: URL | string, baseUrl: string): Promise<unknown> {
  const published: any = parseJson(await readFile(file, 'utf8'));
  return { ...published, servers: localServers(baseUrl) };
}
