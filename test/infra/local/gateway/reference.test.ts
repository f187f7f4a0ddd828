import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiGateway } from '../../../../infra/local/gateway/api-gateway.ts';
import type { HttpResponse } from '../../../../infra/local/gateway/http-message.ts';
import { answerBrowser } from '../../../../infra/local/gateway/reference.ts';
import { type HttpServer, serve } from '../../../../infra/local/gateway/server.ts';
import { type RawAnswer, sendBytes } from '../../../support/raw-http.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const openApi = join(temporaryFolder(), 'openapi.json');
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

// The response of the deployed API at this address.
const notFound: HttpResponse = { status: 404, headers: {}, body: '{"code":"not_found"}' };
const api = { handle: async () => notFound, gatewayResponse: () => notFound } as unknown as ApiGateway;
let server: HttpServer;
let printed: jest.SpiedFunction<typeof console.log>;

beforeAll(async () => {
  server = await serve(api, 0, (request) => answerBrowser(request, 'local-key', openApi));
});
afterAll(() => server.close());
beforeEach(() => {
  printed = jest.spyOn(console, 'log').mockReturnValue();
  writeFileSync(openApi, '{"openapi":"3.1.1","info":{"title":"Pets"}}');
});
afterEach(() => {
  printed.mockRestore();
});

function withoutDate({ head }: RawAnswer): string {
  return head.replace(/Date: .*/, '');
}

function ask(headers: string[], method = 'GET', target = '/'): Promise<RawAnswer> {
  return sendBytes(
    server.port,
    [`${method} ${target} HTTP/1.1`, 'Connection: close', ...headers, '\r\n'].join('\r\n'),
  );
}

describe('A browser on this machine', () => {
  test.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'])('gets the page at %s', async (name) => {
    const { status, body } = await ask([`Host: ${name}:3000`, `Accept: ${BROWSER}`]);
    expect(status).toBe(200);
    expect(body).toContain(`"url":"http://${name}:3000/v1"`);
    expect(body).toContain('"apiKey":"local-key"');
    expect(body).toContain('createApiReference');
  });

  test('gets the page if a second Accept header asks for it', async () => {
    expect((await ask(['Host: localhost', 'Accept: image/*', 'Accept: text/html;q=0.5'])).status).toBe(200);
  });

  test('gets headers that isolate the page', async () => {
    const { head, body } = await ask(['Host: localhost', `Accept: ${BROWSER}`]);
    const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(body)!;
    expect(head.split('\r\n')).toEqual(
      expect.arrayContaining([
        'Content-Type: text/html; charset=utf-8',
        'Cache-Control: no-store',
        `Content-Security-Policy: ${policy}; frame-ancestors 'none'`,
        'Cross-Origin-Resource-Policy: same-origin',
        'Referrer-Policy: no-referrer',
        'X-Content-Type-Options: nosniff',
        'X-Frame-Options: DENY',
      ]),
    );
  });

  test('gets the same response to HEAD as to GET, without a body', async () => {
    const headers = ['Host: localhost', `Accept: ${BROWSER}`];
    const [got, asked] = await Promise.all([ask(headers), ask(headers, 'HEAD')]);
    expect(withoutDate(asked)).toBe(withoutDate(got));
    expect(asked.head).toContain(`Content-Length: ${Buffer.byteLength(got.body)}`);
    expect(asked.body).toBe('');
  });

  test('gets the current openapi.json', async () => {
    const headers = ['Host: localhost', `Accept: ${BROWSER}`];
    await ask(headers);
    writeFileSync(openApi, '{"openapi":"3.1.1","info":{"title":"Other pets"}}');
    expect((await ask(headers)).body).toContain('<title>Other pets</title>');
  });

  test('is logged like any other client', async () => {
    await ask(['Host: localhost', `Accept: ${BROWSER}`]);
    expect(printed).toHaveBeenCalledWith(expect.stringMatching(/^\S+Z GET \/ 200 \d+\.\d ms$/));
  });

  test.each([
    ['is missing', () => rmSync(openApi)],
    ['is not JSON', () => writeFileSync(openApi, '{')],
    ['is not OpenAPI', () => writeFileSync(openApi, '[]')],
  ])('gets an error page that says what to do if openapi.json %s', async (_case, breakIt) => {
    breakIt();
    const { status, head, body } = await ask(['Host: localhost', `Accept: ${BROWSER}`]);
    expect(status).toBe(500);
    expect(head).toContain("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'");
    expect(body).toMatch(/openapi\.json cannot be shown: .*npm run generate/);
    expect(body).not.toContain('local-key');
  });
});

describe('The API responds to', () => {
  const localhost = 'Host: localhost:3000';
  const html = `Accept: ${BROWSER}`;

  test.each([
    ['a client that does not ask for HTML', [localhost]],
    ['a client that accepts anything', [localhost, 'Accept: */*']],
    ['a client that accepts JSON', [localhost, 'Accept: application/json']],
    ['a client that rejects HTML', [localhost, 'Accept: text/html;q=0, */*']],
    ['a client that rejects HTML with more digits', [localhost, 'Accept: text/html; q=0.000']],
    ['a client that accepts a type that starts with HTML', [localhost, 'Accept: text/html5']],
    // DNS rebinding: a page of the attacker, at a name that resolves to this machine, may read the response.
    ['another name of this machine', ['Host: attacker.example:3000', html]],
    ['a name that starts with localhost', ['Host: localhost.attacker.example', html]],
    ['a name that ends with localhost', ['Host: attacker.localhost', html]],
    ['another address of this machine', ['Host: 192.168.0.7:3000', html]],
  ])('%s', async (_case, headers) => {
    const { status, body } = await ask(headers);
    expect([status, body]).toEqual([404, notFound.body]);
  });

  test.each([
    ['POST', '/'],
    ['OPTIONS', '/'],
    ['GET', '/v1/pets'],
    ['GET', '//'],
    ['GET', '/index.html'],
  ])('a browser that sends %s %s', async (method, target) => {
    expect((await ask([localhost, html], method, target)).body).toBe(notFound.body);
  });
});
