import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ApiGateway } from '../../infra/local/emulator/gateway/api-gateway.ts';
import { serve } from '../../infra/local/emulator/gateway/server.ts';
import { respondWithDocumentation } from '../../infra/local/documentation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const published = readFileSync('openapi.json', 'utf8');
/** Copy of openapi.json that the tests change. */
const file = join(temporaryFolder(), 'openapi.json');
beforeEach(() => {
  writeFileSync(file, published);
});

// The API responds to all requests that are not for the documentation.
const response = { status: 404, headers: {}, body: 'the API' };
const api: ApiGateway = {
  handle: async () => response,
  gatewayResponse: () => response,
  flushAuthorizersCache: () => {},
};
const server = await serve(api, 0, {
  respondFirst: (request) => respondWithDocumentation(request, 'local-key', file),
});
afterAll(() => server.close());

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Sends a request. Unlike `fetch`, this function can set the Host header, whose default is `localhost:3000`. */
async function send(line: string, { Host = 'localhost:3000', ...headers }: Record<string, string> = {}) {
  const [method, path] = line.split(' ');
  const outgoing = requestByHttp({ port: server.port, method, path, headers: { Host, ...headers } }).end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
}

test('a browser gets the reference page, which sends requests to the service with an API key', async () => {
  const { status, headers, body } = await send('GET /', { Accept: HTML });
  expect(status).toBe(200);
  expect(body).toContain('"url":"http://localhost:3000/v1"');
  expect(body).toContain('"apiKey":"local-key"');
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(body)!;
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': `${policy}; frame-ancestors 'none'`,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
});

test.each([
  ['/openapi.json', '3.1.0'],
  ['/openapi-3.0.json', '3.0.3'],
])('a tool that imports %s sends its requests to the service', async (path, version) => {
  const { status, headers, body } = await send(`GET ${path}`, { Host: '[::1]:3000' });
  expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const servers = [{ url: 'http://[::1]:3000/v1', description: 'Local service' }];
  expect(JSON.parse(body)).toEqual({ ...JSON.parse(published), openapi: version, servers });
});

test('the documentation follows openapi.json, which developers generate while the service runs', async () => {
  await send('GET /openapi.json');
  writeFileSync(file, published.replace('"Pet store"', '"Other store"'));
  expect(JSON.parse((await send('GET /openapi.json')).body).info.title).toBe('Other store');
  expect((await send('GET /', { Accept: HTML })).body).toContain('<title>Other store</title>');
});

// In DNS rebinding, an attacker's page reaches this machine through a host name that the attacker controls. The page must
// not get the documentation, because the documentation contains the API key.
test('a website gets no documentation, and so no API key, through a host name of its own', async () => {
  for (const Host of ['attacker.example:3000', 'localhost.attacker.example', 'attacker.localhost']) {
    for (const path of ['/', '/openapi.json', '/openapi-3.0.json'])
      expect((await send(`GET ${path}`, { Host, Accept: HTML })).body).toBe('the API');
  }
});

test('the API responds to all other requests', async () => {
  const lines = ['GET /v1/pets', 'GET /v1/openapi.json', 'POST /', 'POST /openapi.json', 'OPTIONS /'];
  for (const line of lines) expect((await send(line, { Accept: HTML })).body).toBe('the API');
  for (const Accept of ['*/*', 'application/json'])
    expect((await send('GET /', { Accept })).body).toBe('the API');
});
