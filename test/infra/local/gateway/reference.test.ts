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

// As the deployed one answers at this address.
const notFound: HttpResponse = { status: 404, headers: {}, body: '{"code":"not_found"}' };
const api = { handle: async () => notFound, gatewayResponse: () => notFound } as unknown as ApiGateway;
const library = jest.fn<() => Promise<string>>();
let server: HttpServer;
let printed: jest.SpiedFunction<typeof console.log>;

beforeAll(async () => {
  const sources = { openApi, readLibrary: library };
  server = await serve(api, 0, (request) => answerBrowser(request, 'local-key', sources));
});
afterAll(() => server.close());
beforeEach(() => {
  printed = jest.spyOn(console, 'log').mockReturnValue();
  writeFileSync(openApi, '{"openapi":"3.1.1","info":{"title":"Pets"}}');
  library.mockResolvedValue('draw()');
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
  test.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'])('is shown the page at %s', async (name) => {
    const { status, body } = await ask([`Host: ${name}:3000`, `Accept: ${BROWSER}`]);
    expect(status).toBe(200);
    expect(body).toContain(`"url":"http://${name}:3000/v1"`);
    expect(body).toContain('"apiKey":"local-key"');
    expect(body).toMatch(/<script>draw\(\)<\/script>/);
  });

  test('is shown the page when a second Accept asks for it', async () => {
    expect((await ask(['Host: localhost', 'Accept: image/*', 'Accept: text/html;q=0.5'])).status).toBe(200);
  });

  test('is told to keep the page to itself', async () => {
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

  test('is answered HEAD like GET, without the page', async () => {
    const headers = ['Host: localhost', `Accept: ${BROWSER}`];
    const [got, asked] = await Promise.all([ask(headers), ask(headers, 'HEAD')]);
    expect(withoutDate(asked)).toBe(withoutDate(got));
    expect(asked.head).toContain(`Content-Length: ${Buffer.byteLength(got.body)}`);
    expect(asked.body).toBe('');
  });

  test('is shown what openapi.json says by now', async () => {
    const headers = ['Host: localhost', `Accept: ${BROWSER}`];
    await ask(headers);
    writeFileSync(openApi, '{"openapi":"3.1.1","info":{"title":"Other pets"}}');
    expect((await ask(headers)).body).toContain('<title>Other pets</title>');
  });

  test('leaves a line like any other request', async () => {
    await ask(['Host: localhost', `Accept: ${BROWSER}`]);
    expect(printed).toHaveBeenCalledWith(expect.stringMatching(/^\S+Z GET \/ 200 \d+\.\d ms$/));
  });

  test.each([
    ['there is no document', () => rmSync(openApi), /There is no openapi\.json: .*npm run openapi/],
    ['the document is no JSON', () => writeFileSync(openApi, '{'), /openapi\.json is not .*npm run openapi/],
    [
      'the document is no OpenAPI',
      () => writeFileSync(openApi, '[]'),
      /openapi\.json is not .*npm run openapi/,
    ],
    [
      'the library is not installed',
      () => library.mockRejectedValue(new Error('Cannot find package')),
      /not installed: run <code>npm ci/,
    ],
  ])('is told what to do when %s', async (_case, breakIt, sentence) => {
    breakIt();
    const { status, head, body } = await ask(['Host: localhost', `Accept: ${BROWSER}`]);
    expect(status).toBe(500);
    expect(head).toContain("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'");
    expect(body).toMatch(sentence);
    expect(body).not.toContain('local-key');
  });
});

describe('The API answers', () => {
  const localhost = 'Host: localhost:3000';
  const html = `Accept: ${BROWSER}`;

  test.each([
    ['whoever does not ask for HTML', [localhost]],
    ['whoever takes anything', [localhost, 'Accept: */*']],
    ['whoever wants JSON', [localhost, 'Accept: application/json']],
    ['whoever refuses HTML', [localhost, 'Accept: text/html;q=0, */*']],
    ['whoever refuses HTML in more digits', [localhost, 'Accept: text/html; q=0.000']],
    ['whoever names something that begins like HTML', [localhost, 'Accept: text/html5']],
    // A page of the attacker's, under a name that leads to this machine, may read what it gets.
    ['another name that leads here', ['Host: attacker.example:3000', html]],
    ['a name that begins like this machine', ['Host: localhost.attacker.example', html]],
    ['a name that ends like this machine', ['Host: attacker.localhost', html]],
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
  ])('a browser that asks %s %s', async (method, target) => {
    expect((await ask([localhost, html], method, target)).body).toBe(notFound.body);
  });
});
