import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import type { NewPet, Pet } from '../../shared/contract/schemas.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import {
  type ClientProxy,
  type Fate,
  type GivenAnswer,
  inOrder,
  startClientProxy,
} from '../support/client-proxy.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  clients,
  describeWhereItRuns,
  document,
  type ExampleClient,
  petsIn,
  runIn,
  unpack,
} from './example-clients.ts';

// What docs/clients.md prints is run here, as it is printed there.

const folder = temporaryFolder();
let service: LocalService;
const proxies: ClientProxy[] = [];
/** Pets that are there from the beginning, newest first. */
const sold: Pet[] = [];

beforeAll(async () => {
  const { assembly } = await sharedSynthesis();
  service = await startLocalService('--assembly', assembly);
  for (const categoryId of [-(2n ** 63n), -1n, 2n ** 53n + 1n, 2n ** 63n - 2n, 2n ** 63n - 1n]) {
    const response = await call(
      '',
      stringifyJson({ name: `Mia <b>; rel="next"`, categoryId, status: 'sold' }),
    );
    sold.unshift(parseJson(await response.text()) as Pet);
  }
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.close();
  await service.stop();
});

function call(query: string, body?: string): Promise<Response> {
  return fetch(`${service.baseAddress}/pets${query}`, {
    headers: { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body }),
  });
}

/** What the service has of this name. */
async function petsNamed(wanted: string): Promise<Pet[]> {
  const pets = parseJson(await (await call('?status=pending&limit=100')).text()) as Pet[];
  return pets.filter(({ name }) => name === wanted);
}

function refusal(status: number, code: string, retryAfter: string): GivenAnswer {
  const body = JSON.stringify({ code, message: 'A fault of the test.', status });
  return { status, headers: { 'Retry-After': retryAfter }, body };
}
const unavailable = (retryAfter: string) => refusal(503, 'service_unavailable', retryAfter);
const tooMany = (retryAfter: string) => refusal(429, 'too_many_requests', retryAfter);

describe('docs/clients.md', () => {
  test('has a client here for each language', () => {
    const headings = Array.from(document.matchAll(/^## (.+)$/gm), ([, heading]) => heading);
    expect(headings.slice(2)).toEqual(clients.map(({ name }) => name));
  });
});

for (const client of clients) {
  describeWhereItRuns(client, () => {
    behavesAsPromised(client);
  });
}

function behavesAsPromised(client: ExampleClient): void {
  const { library, timeout, list, create } = client;

  /** Behind a proxy of its own. */
  async function start(...fates: Fate[]) {
    const proxy = await startClientProxy(service.baseAddress);
    proxies.push(proxy);
    proxy.decide(inOrder(...fates));
    const files = unpack(folder);
    const environment = { BASE_URL: proxy.baseAddress, API_KEY: service.apiKey };
    return {
      proxy,
      files,
      run: (text: string, ...parameters: string[]) => runIn(files, client, text, parameters, environment),
      add: (pet: NewPet) => {
        writeFileSync(join(files, 'pet.json'), stringifyJson(pet));
        return runIn(files, client, create, ['pet.json', randomUUID()], environment);
      },
    };
  }

  test.concurrent('lists each pet once over all pages and faults, its integers exact', async () => {
    const { proxy, run } = await start();
    const { status, headers, body } = unavailable('0');
    const Link = `<${proxy.baseAddress}/pets>; rel="next"`;
    // A fault may have links too, but those of the answer after it count.
    proxy.decide(inOrder('pass', 'cut', 'pass', { status, headers: { ...headers, Link }, body }));
    const { code, stdout } = await run(list, 'sold', '2');
    expect(petsIn(stdout)).toEqual(sold);
    expect(code).toBe(0);
    expect(proxy.requests.map(({ method }) => method)).toEqual(Array(5).fill('GET'));
  });

  test.concurrent('adds one pet, as it is, when answers are lost', async () => {
    const { proxy, add } = await start(unavailable('1'), 'lose');
    const pet: NewPet = { name: `${client.name} “é”`, categoryId: 2n ** 63n - 1n, status: 'pending' };
    const { code, stdout, stderr } = await add(pet);
    // curl tells of each attempt that failed.
    const complaint = stderr.replaceAll(/^curl: .*\n/gm, '');
    expect({ code, complaint, pets: petsIn(stdout) }).toEqual({
      code: 0,
      complaint: '',
      pets: [{ id: expect.anything(), ...pet }],
    });
    expect(await petsNamed(pet.name)).toEqual(petsIn(stdout));

    expect(proxy.requests).toHaveLength(3);
    const keys = new Set(proxy.requests.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[\w-]{16,}$/)]);
    const [first, second] = proxy.requests.map(({ time }) => time);
    expect(second! - first!).toBeGreaterThan(950); // clocks of processes are not set by each other
  });

  test.concurrent('adds one pet when the service is silent for longer than its time-out', async () => {
    const { proxy, files, add } = await start('hang');
    const file = join(files, library);
    const [written, short] = timeout;
    const code = readFileSync(file, 'utf8');
    expect(code.split(written)).toHaveLength(2);
    writeFileSync(file, code.replace(written, short));
    const pet: NewPet = { name: `Late ${client.name}`, categoryId: 7n, status: 'pending' };
    expect(petsIn((await add(pet)).stdout)).toEqual(await petsNamed(pet.name));
    expect(proxy.requests.length).toBeGreaterThan(1);
  });

  test.concurrent('takes a refusal as final, and shows its Error body', async () => {
    const { proxy, add } = await start();
    const { code, stdout, stderr } = await add({ name: '', categoryId: 7n });
    expect({ stdout, failed: code !== 0 }).toEqual({ stdout: '', failed: true });
    expect(stderr).toMatch(/invalid_request.*name must be/);
    expect(proxy.requests).toHaveLength(1);
  });

  test.concurrent('repeats a 429 as well, and gives up when it would have to wait for an hour', async () => {
    const { proxy, run } = await start(tooMany('0'), tooMany('3600'));
    const { code, stdout, stderr } = await run(list, 'sold', '2');
    expect({ stdout, failed: code !== 0 }).toEqual({ stdout: '', failed: true });
    expect(stderr).toContain('too_many_requests');
    expect(proxy.requests).toHaveLength(2);
  });

  test.concurrent('gives up after six attempts, with the last refusal', async () => {
    // Without a second to wait curl would take pauses of its own, which are longer.
    const { proxy, run } = await start(
      ...Array<Fate>(7).fill(unavailable(client.name === 'curl' ? '1' : '0')),
    );
    const { code, stdout, stderr } = await run(list, 'sold', '2');
    expect({ stdout, failed: code !== 0 }).toEqual({ stdout: '', failed: true });
    expect(stderr).toContain('service_unavailable');
    expect(proxy.requests).toHaveLength(6);
  });

  test.concurrent('finds the next page among other links', async () => {
    const { proxy, run } = await start();
    const pages = `${proxy.baseAddress}/pets?status=sold&limit`;
    const Link = `<${pages}=1>; rel="prev", <${pages}=100>; rel="next", <${pages}=3>; rel="first"`;
    proxy.decide(inOrder({ status: 200, headers: { Link }, body: '[]' }));
    expect(petsIn((await run(list, 'sold', '2')).stdout)).toEqual(sold);
    expect(proxy.requests[1]!.target).toBe('/v1/pets?status=sold&limit=100');
  });

  test.concurrent('sends the key to no other place than the base address', async () => {
    const elsewhere = await startClientProxy(service.baseAddress);
    proxies.push(elsewhere);
    const Link = `<${elsewhere.baseAddress}/pets?cursor=x>; rel="next"`;
    const { proxy, run } = await start({ status: 200, headers: { Link }, body: '[]' });
    const { code, stderr } = await run(list, 'sold', '2');
    expect(code).not.toBe(0);
    expect(stderr).toContain(new URL(elsewhere.baseAddress).origin);
    expect(proxy.requests).toHaveLength(1);
    expect(elsewhere.requests).toEqual([]);
  });

  test.concurrent('is used as the document shows', async () => {
    const { run } = await start();
    for (const { file, ends, shows } of client.uses) {
      const { code, stdout } = await run(file);
      expect(code).toBe(ends);
      for (const pattern of shows) expect(stdout).toMatch(pattern);
    }
  });
}
