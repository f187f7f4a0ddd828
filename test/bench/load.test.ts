import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Outcome, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { hasTools } from '../support/tools.ts';

// What a service does is made up here: how the command counts it is what is looked at.

interface Seen {
  /** Method and address of a request, `GET /v1/pets`. */
  line: string;
  idempotencyKey: string | undefined;
}

const describeLoad = hasTools() ? describe : describe.skip;

const apiKey = 'the-key-of-the-load';
let seen: Seen[];
let faults: Record<string, (response: ServerResponse) => void>;

// It takes a moment to answer, so that a load leaves room for the tests beside it.
const server = createServer((request, response) => {
  setTimeout(() => answer(request, response), 2);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const plotFile = join(temporaryFolder(), 'load.svg');

// Above the 5 seconds that jest gives a test, of which each load takes two on an idle machine.
jest.setTimeout(30_000);

beforeEach(() => {
  seen = [];
  faults = {};
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '', headers } = request;
  request.resume();
  if (headers.authorization !== `Bearer ${apiKey}`) return void response.writeHead(401).end();
  seen.push({ line: `${method} ${url}`, idempotencyKey: headers['idempotency-key'] as string | undefined });
  const fault = Object.entries(faults).find(([start]) => `${method} ${url}`.startsWith(start))?.[1];
  if (fault) return fault(response);
  if (method === 'POST')
    return void response.writeHead(201, { Location: `${baseUrl}/pets/${seen.length}` }).end();
  const link = `<${baseUrl}/pets?cursor=${seen.length}>; rel="next"`;
  return void response.writeHead(200, url.includes('pets/') ? {} : { Link: link }).end('[]');
}

function load(options: Record<string, string> = {}): Promise<Outcome> {
  const parameters = {
    'base-url': baseUrl,
    'api-key': apiKey,
    duration: '1',
    connections: '3',
    plot: plotFile,
  };
  return runModule(
    'test/bench/load.ts',
    Object.entries({ ...parameters, ...options }).flatMap(([name, value]) => [`--${name}`, value]),
  );
}

/** The figures of a line of the table: requests, five latencies, what was not 2xx, what was not answered. */
function figuresOf({ stdout }: Outcome, kind: string): string[] {
  const line = stdout.split('\n').find((one) => one.startsWith(`${kind}  `));
  return (
    line
      ?.slice(kind.length)
      .trim()
      .split(/\s{2,}/) ?? []
  );
}

function sent(pattern: RegExp): number {
  return seen.filter(({ line }) => pattern.test(line)).length;
}

/** Those under way at the end, one of each connection at most, were sent and are not counted. */
function expectCounted(counted: number, sentInAll: number): void {
  expect(sentInAll - counted).toBeGreaterThanOrEqual(0);
  expect(sentInAll - counted).toBeLessThanOrEqual(3);
}

describeLoad('a load', () => {
  test('is lists, creates and the pets just created, each counted with what its clients waited for', async () => {
    const outcome = await load({ duration: '2' });
    const { code, stdout, stderr } = outcome;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('100 %') });

    const keys = seen.flatMap(({ idempotencyKey }) => idempotencyKey ?? []);
    expect(new Set(keys).size).toBe(keys.length);
    const kinds: [kind: string, sent: number][] = [
      ['listPets', sent(/^GET \/v1\/pets$/)],
      ['listPets, one status', sent(/^GET \/v1\/pets\?status=(available|pending|sold)$/)],
      ['listPets, next page', sent(/^GET \/v1\/pets\?cursor=\d+$/)],
      ['createPet', sent(/^POST \/v1\/pets$/) - keys.length],
      ['createPet, Idempotency-Key', keys.length],
      ['getPet', sent(/^GET \/v1\/pets\/\d+$/)],
      ['all', seen.length - 1], // the first one looks whether there is a service
    ];
    for (const [kind, count] of kinds) {
      const [requests, ...figures] = figuresOf(outcome, kind);
      const latencies = figures.slice(0, 5).map(Number);
      expect(Number(requests)).toBeGreaterThan(10);
      expectCounted(Number(requests), count);
      expect(latencies).toEqual(latencies.toSorted((one, other) => one - other));
      expect(figures.slice(5)).toEqual(['0', '0']);
    }

    const created = new Set(
      seen.map(({ line }, index) => line.startsWith('POST') && `/v1/pets/${index + 1}`),
    );
    const asked = seen.flatMap(({ line }) => /^GET (.*\/pets\/.*)/.exec(line)?.[1] ?? []);
    expect(asked.filter((address) => !created.has(address))).toEqual([]);

    const svg = readFileSync(plotFile, 'utf8');
    expect(svg).toContain('3 connections for');
    for (const axis of ['latency (ms)', 'requests per second', 'seconds since the start']) {
      expect(svg).toContain(axis);
    }
    // p50, p99 and requests per second, from the first second to the last.
    expect(svg.match(/<path d="M[\d.]+ [\d.]+L[\d.]+ [\d.]+"[^>]*stroke-linejoin="bevel"/g)).toHaveLength(3);
    expect(stdout + stderr + svg).not.toContain(apiKey);
  });

  test('fails by what is not answered by 2xx, or not at all, and says how often', async () => {
    let creates = 0;
    faults = {
      'GET /v1/pets/': (response) => void response.writeHead(503).end(),
      POST: (response) => {
        creates += 1;
        // The first ones are answered, so that there is a pet to ask for.
        if (creates > 6) response.socket?.destroy();
        else response.writeHead(201, { Location: `${baseUrl}/pets/1` }).end();
      },
    };
    const outcome = await load();
    expect(outcome.code).toBe(1);
    const [getPets, , , , , , refusals] = figuresOf(outcome, 'getPet');
    expect(refusals).toMatch(/^\d+ x 503$/);
    expect(Number.parseInt(refusals!, 10)).toBeGreaterThan(10);
    expectCounted(Number(getPets), sent(/^GET \/v1\/pets\/1$/));
    const [all, , , , , , , unanswered] = figuresOf(outcome, 'all');
    expectCounted(Number(all), seen.length - 1);
    expect(Number(unanswered)).toBeGreaterThan(10);
    expectCounted(Number(figuresOf(outcome, 'listPets')[7]), 0);
  });
});

describeLoad('a load is refused in a sentence', () => {
  test.each<[what: string, options: Record<string, string>, sentence: string]>([
    [
      'without a service',
      { 'base-url': '' },
      '--base-url must be the address of a service, such as http://localhost:3000/v1.',
    ],
    [
      'with what is no key',
      { 'api-key': 'the\nkey' },
      '--api-key must be a key as `npm start` or `npm run keys` shows it.',
    ],
    ['without connections', { connections: '0' }, '--connections must be an integer from 1 to 1000.'],
    [
      'where nobody listens',
      { 'base-url': 'http://127.0.0.1:2/v1' },
      'http://127.0.0.1:2/v1 does not answer: connect ECONNREFUSED 127.0.0.1:2.',
    ],
    ['with a key that is refused', { 'api-key': 'another' }, `${baseUrl} refuses this API key.`],
    [
      'with a plot that cannot be written',
      { plot: '/' },
      `--plot cannot be written: EISDIR: illegal operation on a directory, open '/'.`,
    ],
  ])('%s', async (_what, options, sentence) => {
    expect(await load(options)).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` });
  });

  test('where there is another service', async () => {
    faults = { GET: (response) => void response.writeHead(404).end() };
    expect(await load()).toEqual({
      code: 1,
      stdout: '',
      stderr: `${baseUrl}/pets?limit=1 was answered 404: no pet store is there.\n`,
    });
  });
});
