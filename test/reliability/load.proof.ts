import { describe, expect, test } from '@jest/globals';
import { createServer, type ServerResponse } from 'node:http';
import { firstCollection } from '../collections/all.ts';
import { stagesEnvironment } from '../support/assembly.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { startLocalService } from '../support/local-service.ts';
import { runModule } from '../support/run-command.ts';
import { hasTools } from '../support/tools.ts';

const { path, filters } = firstCollection;

/** Runs the load for a few seconds, in which even functions with cold starts respond to several requests. */
function load(baseUrl: string, apiKey: string) {
  const options = ['--duration', '5', '--connections', '1'];
  return runModule('test/reliability/load.ts', options, { BASE_URL: baseUrl, API_KEY: apiKey });
}

(hasTools() ? describe : describe.skip)('the load test', () => {
  test('sends one create and one get for every two lists', async () => {
    const { baseUrl, apiKey, output, stop } = await startLocalService();
    const { code, stdout, stderr } = await load(baseUrl, apiKey);
    await stop();
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(stdout + stderr).not.toContain(apiKey);

    const logged = output().match(/(?<=Z )(GET|POST) \S+ \d{3}(?= \S+ ms$)/gm)!;
    const [, ...requests] = logged.map((line) => line.replace(/\d{6,}/, 'ID')); // The first list precedes the load.
    const list = `GET /v1${path} 200`;
    const round = [list, list, `POST /v1${path} 201`, `GET /v1${path}/ID 200`];
    expect(requests.length).toBeGreaterThanOrEqual(round.length);
    expect(requests).toEqual(requests.map((_, index) => round[index % round.length]));
  });

  test.each([
    ['is a 503', (response: ServerResponse) => response.writeHead(503).end(), /│ 503 +│ \d+/],
    ['is missing', (response: ServerResponse) => response.socket!.destroy(), /^At least \d+ requests/m],
  ])('fails if a response %s', async (_case, fault, message) => {
    const urls = new Set<string>();
    const keys: unknown[] = [];
    const server = createServer(({ method, url, headers }, response) => {
      urls.add(url!);
      const key = headers['idempotency-key'];
      if (key) keys.push(key);
      const Link = `<http://localhost/v1${path}?cursor=next>; rel="next"`;
      if (method === 'POST') fault(response);
      else response.writeHead(200, { Link }).end('[]');
    });
    const { origin, close } = await listenOnLoopback(server);
    const { code, stdout, stderr } = await load(`${origin}/v1`, 'a-key');
    await close();
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(message);
    // This test also checks query strings and headers. The first test cannot, because the local service does not log them.
    const filtered = filters.slice(0, 1).map(({ query }) => new URLSearchParams(query).toString());
    const lists = ['cursor=next', ...filtered].map((query) => `/v1${path}?${query}`);
    expect([...urls]).toEqual(expect.arrayContaining(lists));
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test('the load test fails if the service does not respond', async () => {
  const stderr =
    'A list request to http://127.0.0.1:2 failed (ECONNREFUSED). Check --base-url and --api-key.\n';
  expect(await load('http://127.0.0.1:2', 'a-key')).toEqual({ code: 1, stdout: '', stderr });
});

test('the load test with hostile clients finds no fault while it kills a local service', async () => {
  const options = ['--duration', '10', '--connections', '20', '--kill-every', '4'];
  const { code, stdout, stderr } = await runModule(
    'test/reliability/hostile-load.ts',
    options,
    stagesEnvironment(),
  );
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toMatch(/^[1-9]\d* items in the list, .*^Responses: .* because of 1 kills$/ms);
});
