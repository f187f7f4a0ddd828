import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Outcome, runModule } from '../support/run-command.ts';
import { hasTools } from '../support/tools.ts';

// The service is a stub: what the command sends to it and counts of it is tested.

const apiKey = 'the-key-of-the-load';
let seen: { line: string; idempotencyKey: unknown }[];
let faults: Record<string, (response: ServerResponse) => void>;
// It takes a moment to respond, so that a load leaves room for the tests beside it.
const server = createServer((request, response) => {
  setTimeout(() => respond(request, response), 2);
});
let baseUrl: string;

function respond(request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '', headers } = request;
  request.resume();
  if (headers.authorization !== `Bearer ${apiKey}`) return void response.writeHead(401).end();
  seen.push({ line: `${method} ${url}`, idempotencyKey: headers['idempotency-key'] });
  const fault = Object.entries(faults).find(([start]) => `${method} ${url}`.startsWith(start))?.[1];
  if (fault) return fault(response);
  if (method === 'POST')
    return void response.writeHead(201, { Location: `${baseUrl}/pets/${seen.length}` }).end();
  const link = `<${baseUrl}/pets?cursor=${seen.length}>; rel="next"`;
  return void response.writeHead(200, url.includes('pets/') ? {} : { Link: link }).end('[]');
}

function load(options: Record<string, string> = {}): Promise<Outcome> {
  const parameters = { 'base-url': baseUrl, 'api-key': apiKey, duration: '1', connections: '3', ...options };
  return runModule(
    'test/bench/load.ts',
    Object.entries(parameters).flatMap(([name, value]) => [`--${name}`, value]),
  );
}

const sent = (pattern: RegExp): number => seen.filter(({ line }) => pattern.test(line)).length;

(hasTools() ? describe : describe.skip)('npm run load', () => {
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  beforeEach(() => {
    seen = [];
    faults = {};
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  test('sends lists, creates and requests for the pets just created, and prints how many', async () => {
    const { code, stdout, stderr } = await load();
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(apiKey);

    const lists = sent(/^GET \/v1\/pets(\?(limit=1|status=available|cursor=\d+))?$/);
    const creates = sent(/^POST \/v1\/pets$/);
    const gets = sent(/^GET \/v1\/pets\/\d+$/);
    expect(lists + creates + gets).toBe(seen.length);
    expect(sent(/\?cursor=/)).toBeGreaterThan(10);
    expect(sent(/\?status=/)).toBeGreaterThan(10);
    // Connections may be anywhere in their rounds of eight.
    for (const [count, share] of [
      [lists, 1 / 2],
      [creates, 1 / 4],
      [gets, 1 / 4],
    ] as const) {
      expect(Math.abs(count - seen.length * share)).toBeLessThan(3 * 8);
    }
    const keys = seen.flatMap(({ idempotencyKey }) => idempotencyKey ?? []);
    expect(Math.abs(keys.length - creates / 2)).toBeLessThan(3 * 8);
    expect(new Set(keys).size).toBe(keys.length);
    const isCreated = (line: string) => seen[Number(line.split('/').at(-1)) - 1]?.line === 'POST /v1/pets';
    expect(seen.filter(({ line }) => line.includes('pets/') && !isCreated(line))).toEqual([]);

    const counts = Array.from(stdout.matchAll(/│ (20[01]) +│ (\d+)/g), ([, , count]) => Number(count));
    const counted = counts.reduce((sum, count) => sum + count, 0);
    // One request was sent before the load, and each connection may have had one in progress at its end.
    expect(seen.length - 1 - counted).toBeGreaterThanOrEqual(0);
    expect(seen.length - 1 - counted).toBeLessThanOrEqual(3);
  });

  test.each([
    ['is not 2xx', (response: ServerResponse) => void response.writeHead(503).end(), /│ 503 +│ \d+/],
    ['is missing', (response: ServerResponse) => void response.socket!.destroy(), /^At least \d+ requests/m],
  ])('fails when a response %s', async (_what, fault, sentence) => {
    faults = { POST: fault };
    const { code, stdout, stderr } = await load();
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(sentence);
  });

  test.each<[options: Record<string, string>, sentence: string]>([
    [{ 'base-url': '' }, '--base-url must be the base URL of a service, such as http://localhost:3000/v1.'],
    [{ 'api-key': 'a\nkey' }, '--api-key must be an API key as `npm start` or `npm run keys` prints it.'],
    [{ connections: '0' }, '--connections must be an integer from 1 to 1000.'],
    [
      { 'base-url': 'http://127.0.0.1:2/v1' },
      'http://127.0.0.1:2/v1 does not respond: connect ECONNREFUSED 127.0.0.1:2.',
    ],
  ])('rejects %j in a sentence', async (options, sentence) => {
    expect(await load(options)).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` });
  });

  test('rejects an API key that the service rejects', async () => {
    expect(await load({ 'api-key': 'another' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('responds with 401'),
    });
  });
});
