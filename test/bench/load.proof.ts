import { describe, expect, test } from '@jest/globals';
import { createServer, type ServerResponse } from 'node:http';
import { sharedSynthesis } from '../support/assembly.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { startLocalService } from '../support/local-service.ts';
import { runModule } from '../support/run-command.ts';
import { collection, itemsPath, validBody } from '../support/sample.ts';
import { hasTools } from '../support/tools.ts';

const CONNECTIONS = 3;

function load(baseUrl: string, apiKey: string) {
  const options = ['--duration', '2', '--connections', `${CONNECTIONS}`];
  return runModule('test/bench/load.ts', options, { BASE_URL: baseUrl, API_KEY: apiKey });
}

(hasTools() ? describe : describe.skip)('npm run load', () => {
  test('sends one create and one get for every two lists', async () => {
    const { assembly } = await sharedSynthesis();
    const { baseUrl, apiKey, request, output, stop } = await startLocalService('--assembly', assembly);
    // Start the functions of these operations before the load, so that the load includes no cold starts.
    const created = await request(itemsPath, { method: 'POST', body: JSON.stringify(validBody) });
    await request(`${itemsPath}/${((await created.json()) as { id: number }).id}`);
    const { code, stdout, stderr } = await load(baseUrl, apiKey);
    await stop();
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(stdout + stderr).not.toContain(apiKey);

    const logged = output().match(/(?<=Z )(GET|POST) \S+ \d{3}(?= \S+ ms$)/gm)!;
    const counts = Array.from(stdout.matchAll(/│ 20[01] +│ (\d+)/g), ([, count]) => Number(count));
    const counted = counts.reduce((sum, count) => sum + count, 0);
    // Three requests precede the load. When the load ends, each connection can have one uncounted request.
    expect(logged.length - 3 - counted).toBeGreaterThanOrEqual(0);
    expect(logged.length - 3 - counted).toBeLessThanOrEqual(CONNECTIONS);
    expect(counts.every((count) => count > 0)).toBe(true);
    // The shares are not exact, because each connection can stop in the middle of a round.
    for (const [pattern, share] of [
      [`GET ${collection}(\\?\\S*)? 200`, 1 / 2],
      [`POST ${collection} 201`, 1 / 4],
      [`GET ${collection}/\\d+ 200`, 1 / 4],
    ] as const) {
      const count = logged.filter((line) => new RegExp(`^${pattern}$`).test(line)).length;
      expect(Math.abs(count - logged.length * share)).toBeLessThanOrEqual(2 * CONNECTIONS);
    }
  });

  test.each([
    ['is a 503', (response: ServerResponse) => response.writeHead(503).end(), /│ 503 +│ \d+/],
    ['is missing', (response: ServerResponse) => response.socket!.destroy(), /^At least \d+ requests/m],
  ])('fails if a response %s', async (_case, fault, message) => {
    const received: string[] = [];
    const server = createServer((request, response) => {
      request.resume();
      const { method, url, headers } = request;
      received.push(`${url} ${String(headers['idempotency-key'])}`);
      const Link = `<http://localhost${collection}?cursor=${received.length}>; rel="next"`;
      if (method === 'POST') fault(response);
      else response.writeHead(200, { Link }).end('[]');
    });
    const { origin, close } = await listenOnLoopback(server);
    const { code, stdout, stderr } = await load(`${origin}/v1`, 'a-key');
    await close();
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(message);
    // The first test cannot check query strings and headers, because the local service does not log them.
    expect(received.some((line) => line.includes('?cursor='))).toBe(true);
    expect(received.some((line) => line.includes(`?status=${validBody.status}`))).toBe(true);
    const keys = received.map((line) => line.split(' ')[1]).filter((key) => key !== 'undefined');
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBeGreaterThan(1);
  });
});

test('npm run load fails if the service does not respond', async () => {
  const stderr =
    'A list request to http://127.0.0.1:2 failed (ECONNREFUSED). Check --base-url and --api-key.\n';
  expect(await load('http://127.0.0.1:2', 'a-key')).toEqual({ code: 1, stdout: '', stderr });
});
