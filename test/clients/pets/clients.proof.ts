import { afterAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { INT64 } from '../../../shared/contract/limits.ts';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';
import { type Behavior, clientProxies, type ClientProxy, inOrder } from '../../support/client-proxy.ts';
import { startLocalService } from '../../support/local-service.ts';
import type { Outcome } from '../../support/run-command.ts';
import { validPet } from './sample.ts';
import type { Pet } from '../../../shared/contract/pets.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import {
  clients,
  describeFor,
  document,
  type ExampleClient,
  outputOf,
  runIn,
  shortenTimeout,
  unpack,
} from './example-clients.ts';

// These tests run the clients and the examples in docs/clients/pets.md. A proxy injects faults into the responses.

const folder = temporaryFolder();
const service = await startLocalService();
const startClientProxy = clientProxies();
/** Pets that exist before the first test, newest first. */
const sold: Pet[] = [];
const soldInput = { ...validPet, name: `<b>; rel="next"`, status: 'sold' };
for (const categoryId of [INT64.minimum, -1n, 2n ** 53n + 1n, INT64.maximum - 1n, INT64.maximum]) {
  const body = stringifyJson({ ...soldInput, categoryId });
  sold.unshift(await service.call('/pets', { method: 'POST', body }));
}
afterAll(async () => {
  await service.stop();
});

async function petsNamed(name: string): Promise<Pet[]> {
  const pets: Pet[] = await service.call('/pets?status=pending&limit=100');
  return pets.filter((pet) => pet.name === name);
}

function petsIn(stdout: string): Pet[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => parseJson(line) as Pet | Pet[]);
}

function errorResponse(status: 429 | 503, seconds: string, headers: Record<string, string> = {}): Behavior {
  const code = status === 503 ? 'service_unavailable' : 'too_many_requests';
  const body = JSON.stringify({ code, message: 'An injected fault.', status });
  return { status, headers: { 'Retry-After': seconds, ...headers }, body };
}

function expectFailure({ code, stdout, stderr }: Outcome, errorCode: RegExp): void {
  expect({ stdout, failed: code !== 0 }).toEqual({ stdout: '', failed: true });
  expect(stderr).toMatch(errorCode);
}

/** Replaces ids and request ids with the numbers of their first occurrences, because they differ between runs. */
function withNumberedIds(output: string): string {
  const found: string[] = [];
  return output.replaceAll(/\b\d{15}\b|[\da-f]{8}-[\da-f-]{27}/g, (id) => {
    if (!found.includes(id)) found.push(id);
    return `id ${found.indexOf(id)}`;
  });
}

async function startProxy(...behaviors: Behavior[]): Promise<ClientProxy> {
  const proxy = await startClientProxy(service.baseUrl);
  proxy.decide(inOrder(...behaviors));
  return proxy;
}

/** Creates the files of all clients, and starts a proxy that applies the n-th behavior to the n-th request. */
async function prepare(client: ExampleClient, ...behaviors: Behavior[]) {
  const proxy = await startProxy(...behaviors);
  const files = unpack(folder);
  function run(program: string, ...parameters: string[]): Promise<Outcome> {
    return runIn(files, client, program, parameters, { BASE_URL: proxy.baseUrl, API_KEY: service.apiKey });
  }
  function add(pet: object): Promise<Outcome> {
    writeFileSync(join(files, 'pet.json'), stringifyJson(pet));
    return run(client.create, 'pet.json', randomUUID());
  }
  return { proxy, files, run, add, list: () => run(client.list, 'sold', '2') };
}

test('docs/clients/pets.md describes exactly the tested clients', () => {
  const headings = Array.from(document.matchAll(/^## (.+)$/gm), ([, heading]) => heading);
  expect(headings).toEqual(clients.map(({ name }) => name));
});

for (const client of clients) {
  describeFor(client)(`the ${client.name} client (needs ${basename(client.check[0])})`, () => {
    testReads(client);
    testCreates(client);
  });
}

function testReads(client: ExampleClient): void {
  test.concurrent('lists each pet once with exact integers despite faults between pages', async () => {
    const { proxy, list } = await prepare(client);
    // A client that followed the link in the error response would list pets twice.
    const Link = `<${proxy.baseUrl}/pets>; rel="next"`;
    proxy.decide(inOrder('pass', 'cut', 'pass', errorResponse(503, '0', { Link })));
    const { code, stdout } = await list();
    expect({ code, pets: petsIn(stdout) }).toEqual({ code: 0, pets: sold });
    expect(proxy.requests.map(({ method }) => method)).toEqual(Array(5).fill('GET'));
  });

  test.concurrent('reports the last error response after six attempts', async () => {
    const { proxy, list } = await prepare(client, ...Array<Behavior>(7).fill(errorResponse(503, '0')));
    expectFailure(await list(), /service_unavailable/);
    expect(proxy.requests).toHaveLength(6);
  });

  test.concurrent('prints the documented output in the example of docs/clients/pets.md', async () => {
    // The example lists all available pets, so it needs a service without other pets.
    const { stop, baseUrl, apiKey } = await startLocalService();
    const { code, stdout, stderr } = await runIn(unpack(folder), client, client.example, [], {
      BASE_URL: baseUrl,
      API_KEY: apiKey,
    });
    await stop();
    expect({ code, output: withNumberedIds(stdout + stderr) }).toEqual({
      code: 0,
      output: withNumberedIds(outputOf(client)),
    });
  });
}

function testCreates(client: ExampleClient): void {
  test.concurrent('creates one pet with the requested values despite a 503 and a lost response', async () => {
    const { proxy, add } = await prepare(client, errorResponse(503, '1'), 'lose');
    const name = `${client.name} “é”`;
    const pet = { name, categoryId: INT64.maximum, status: 'pending' };
    const { code, stdout, stderr } = await add(pet);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(petsIn(stdout)).toEqual([{ id: expect.anything(), ...pet }]);
    expect(await petsNamed(name)).toEqual(petsIn(stdout));

    expect(proxy.requests).toHaveLength(3);
    const keys = new Set(proxy.requests.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[\w-]{16,}$/)]);
    const [first, second] = proxy.requests.map(({ time }) => time);
    expect(second! - first!).toBeGreaterThan(950); // This is 1 s minus a tolerance for differences of clocks.
  });

  test.concurrent('creates one pet if the service does not respond before the timeout', async () => {
    const { proxy, files, add } = await prepare(client, 'hang');
    shortenTimeout(files, client);
    const name = `Late ${client.name}`;
    const { stdout } = await add({ ...validPet, name, status: 'pending' });
    expect(petsIn(stdout)).toEqual(await petsNamed(name));
    expect(proxy.requests.length).toBeGreaterThan(1);
  });
}
