import { beforeEach, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpResponse, Pair } from '../../../infra/local/emulator/gateway/http-message.ts';
import { respondToBrowser } from '../../../infra/local/reference.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const openApi = join(temporaryFolder(), 'openapi.json');
beforeEach(() => {
  writeFileSync(openApi, '{"openapi":"3.1.1","info":{"title":"Things"}}');
});

const html: Pair = ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'];

function respond(host: string, accept = [html], line = 'GET /'): Promise<HttpResponse | undefined> {
  const [method = '', path = ''] = line.split(' ');
  const headers: Pair[] = [['Host', host], ...accept];
  const request = { method, path, query: '', headers, body: [], sourceIp: '127.0.0.1' };
  return respondToBrowser(request, 'local-key', openApi);
}

describe('a browser on the same machine', () => {
  const names = ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'];
  test.each(names)('gets the reference page from the host %s', async (name) => {
    const { status, body } = (await respond(`${name}:3000`))!;
    expect(status).toBe(200);
    expect(body).toContain(`"url":"http://${name}:3000/v1"`);
    expect(body).toContain('"apiKey":"local-key"');
    expect(body).toContain('SwaggerUIBundle');
  });

  test.each(['GET /', 'HEAD /'])('sends %s and gets headers that isolate the page', async (line) => {
    const { headers, body } = (await respond('localhost', [html], line))!;
    const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(body)!;
    expect(headers).toEqual({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': `${policy}; frame-ancestors 'none'`,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
    });
  });

  test('gets a page that contains the current openapi.json', async () => {
    await respond('localhost');
    writeFileSync(openApi, '{"openapi":"3.1.1","info":{"title":"Other things"}}');
    expect((await respond('localhost'))!.body).toContain('<title>Other things</title>');
  });
});

describe('the API', () => {
  test.each<[string, string, Pair[]]>([
    ['a client that does not accept HTML', 'localhost', []],
    ['a client that accepts any type', 'localhost', [['Accept', '*/*']]],
    // In DNS rebinding, an attacker's page reaches this machine through a host name that the attacker controls.
    ["a request to an attacker's host name", 'attacker.example:3000', [html]],
    ['a request to a host name that starts with localhost', 'localhost.attacker.example', [html]],
    ['a request to a host name that ends with localhost', 'attacker.localhost', [html]],
  ])('responds to %s', async (_case, host, accept) => {
    expect(await respond(host, accept)).toBeUndefined();
  });

  test.each(['POST /', 'OPTIONS /', 'GET /v1/things', 'GET //'])(
    'responds to a browser that sends %s',
    async (line) => {
      expect(await respond('localhost', [html], line)).toBeUndefined();
    },
  );
});
