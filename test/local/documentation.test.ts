import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ApiGateway } from '../../infra/local/emulator/gateway/api-gateway.ts';
import { serve } from '../../infra/local/emulator/gateway/server.ts';
import { respondWithDocumentation } from '../../infra/local/documentation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { product } from '../support/product.ts';

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
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'];
const DOCUMENTS = ['/openapi.json', '/openapi-3.0.json'];

/** Sends a request. Unlike `fetch`, this function can set the Host header, whose default is `localhost`. */
async function send(line: string, { Host = 'localhost', ...headers }: Record<string, string> = {}) {
  const [method, path] = line.split(' ');
  const outgoing = requestByHttp({ port: server.port, method, path, headers: { Host, ...headers } }).end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
}

describe('a browser on the same machine', () => {
  test.each(LOCAL_NAMES)('gets the reference page from the host %s', async (name) => {
    const { status, body } = await send('GET /', { Host: `${name}:3000`, Accept: HTML });
    expect(status).toBe(200);
    expect(body).toContain(`"url":"http://${name}:3000/v1"`);
    expect(body).toContain('"apiKey":"local-key"');
    expect(body).toContain('SwaggerUIBundle');
  });

  test.each(['GET /', 'HEAD /'])('sends %s and gets headers that isolate the page', async (line) => {
    const { body } = await send('GET /', { Accept: HTML });
    const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(body)!;
    expect((await send(line, { Accept: HTML })).headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `${policy}; frame-ancestors 'none'`,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
  });

  test('gets a page that contains the current openapi.json', async () => {
    await send('GET /', { Accept: HTML });
    writeFileSync(file, published.replace(`"${product.name}"`, '"Other store"'));
    expect((await send('GET /', { Accept: HTML })).body).toContain('<title>Other store</title>');
  });
});

describe('a tool on the same machine', () => {
  test.each([
    ['/openapi.json', '3.1.0'],
    ['/openapi-3.0.json', '3.0.3'],
  ])(
    'imports %s, which differs from openapi.json only in the version and the server',
    async (path, version) => {
      const { status, headers, body } = await send(`GET ${path}`, { Host: 'localhost:3000' });
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      });
      const servers = [{ url: 'http://localhost:3000/v1', description: 'Local service' }];
      expect(JSON.parse(body)).toEqual({ ...JSON.parse(published), openapi: version, servers });
    },
  );

  test.each(LOCAL_NAMES)('gets a document whose server is the host %s', async (name) => {
    const { body } = await send('GET /openapi.json', { Host: name });
    expect(JSON.parse(body).servers).toEqual([expect.objectContaining({ url: `http://${name}/v1` })]);
  });

  test.each(DOCUMENTS)('gets the headers of %s without a body for HEAD', async (path) => {
    const { headers } = await send(`GET ${path}`);
    const { status, headers: headHeaders, body } = await send(`HEAD ${path}`);
    expect({ status, body }).toEqual({ status: 200, body: '' });
    for (const name of ['content-type', 'content-length', 'cache-control'])
      expect(headHeaders[name]).toBe(headers[name]);
  });

  test.each(DOCUMENTS)('gets the current version of %s', async (path) => {
    await send(`GET ${path}`);
    writeFileSync(file, published.replace(`"${product.name}"`, '"Other store"'));
    expect(JSON.parse((await send(`GET ${path}`)).body).info.title).toBe('Other store');
  });
});

describe('the API', () => {
  test.each<[string, Record<string, string>]>([
    ['a client that does not accept HTML', {}],
    ['a client that accepts any type', { Accept: '*/*' }],
  ])('responds to %s', async (_client, headers) => {
    expect((await send('GET /', headers)).body).toBe('the API');
  });

  // In DNS rebinding, an attacker's page reaches this machine through a host name that the attacker controls. The page must
  // not get the documentation, because the documentation contains the API key.
  const hosts = ['attacker.example:3000', 'localhost.attacker.example', 'attacker.localhost'];
  describe.each(hosts)('responds to a request to the host %s', (Host) => {
    test.each(['/', ...DOCUMENTS])('for %s', async (path) => {
      expect((await send(`GET ${path}`, { Host, Accept: HTML })).body).toBe('the API');
    });
  });

  const otherPaths = [
    'GET /v1/books',
    'GET //',
    'GET /v1/openapi.json',
    'GET /openapi.json/',
    'GET /OPENAPI.json',
  ];
  const otherMethods = ['/', ...DOCUMENTS].flatMap((path) => [`POST ${path}`, `OPTIONS ${path}`]);
  test.each([...otherPaths, ...otherMethods])('responds to a browser that sends %s', async (line) => {
    expect((await send(line, { Accept: HTML })).body).toBe('the API');
  });
});
