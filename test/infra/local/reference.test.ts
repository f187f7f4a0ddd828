import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiGateway } from '../../../infra/local/emulator/gateway/api-gateway.ts';
import type { HttpResponse } from '../../../infra/local/emulator/gateway/http-message.ts';
import { respondToBrowser } from '../../../infra/local/reference.ts';
import { type HttpServer, serve } from '../../../infra/local/emulator/gateway/server.ts';
import { type RawResponse, sendBytes } from '../../support/raw-http.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const openApi = join(temporaryFolder(), 'openapi.json');

const notFound: HttpResponse = { status: 404, headers: {}, body: '{"code":"not_found"}' };
const api = { handle: async () => notFound, gatewayResponse: () => notFound } as unknown as ApiGateway;
let server: HttpServer;

beforeAll(async () => {
  server = await serve(api, 0, {
    respondFirst: (request) => respondToBrowser(request, 'local-key', openApi),
  });
});
afterAll(async () => {
  await server.close();
});
beforeEach(() => {
  writeFileSync(openApi, '{"openapi":"3.1.1","info":{"title":"Things"}}');
});

const localhost = 'Host: localhost:3000';
const html = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

function send(headers: string[], method = 'GET', target = '/'): Promise<RawResponse> {
  const lines = [`${method} ${target} HTTP/1.1`, 'Connection: close', ...headers, '\r\n'];
  return sendBytes(server.port, lines.join('\r\n'));
}

describe('a browser on the same machine', () => {
  const names = ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'];
  test.each(names)('gets the reference page from the host %s', async (name) => {
    const { status, body } = await send([`Host: ${name}:3000`, html]);
    expect(status).toBe(200);
    expect(body).toContain(`"url":"http://${name}:3000/v1"`);
    expect(body).toContain('"apiKey":"local-key"');
    expect(body).toContain('SwaggerUIBundle');
  });

  test('gets headers that isolate the page', async () => {
    const { body } = await send([localhost, html]);
    const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(body)!;
    const response = await send([localhost, html], 'HEAD');
    expect([response.status, response.body]).toEqual([200, '']);
    expect(response.head.split('\r\n')).toEqual(
      expect.arrayContaining([
        'Content-Type: text/html; charset=utf-8',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Cache-Control: no-store',
        `Content-Security-Policy: ${policy}; frame-ancestors 'none'`,
        'Cross-Origin-Resource-Policy: same-origin',
        'X-Content-Type-Options: nosniff',
      ]),
    );
  });

  test('gets a page that contains the current openapi.json', async () => {
    await send([localhost, html]);
    writeFileSync(openApi, '{"openapi":"3.1.1","info":{"title":"Other things"}}');
    expect((await send([localhost, html])).body).toContain('<title>Other things</title>');
  });
});

describe('the API', () => {
  test.each([
    ['a client that does not accept HTML', [localhost]],
    ['a client that accepts any type', [localhost, 'Accept: */*']],
    // In DNS rebinding, an attacker's page reaches this machine through a host name that the attacker controls.
    ["a request to an attacker's host name", ['Host: attacker.example:3000', html]],
    ['a request to a host name that starts with localhost', ['Host: localhost.attacker.example', html]],
    ['a request to a host name that ends with localhost', ['Host: attacker.localhost', html]],
  ])('responds to %s', async (_case, headers) => {
    const { status, body } = await send(headers);
    expect([status, body]).toEqual([404, notFound.body]);
  });

  test.each(['POST /', 'OPTIONS /', 'GET /v1/things', 'GET //'])(
    'responds to a browser that sends %s',
    async (line) => {
      const [method, target] = line.split(' ');
      expect((await send([localhost, html], method, target)).body).toBe(notFound.body);
    },
  );
});
