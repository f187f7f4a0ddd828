import { afterEach, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { newPet } from '../support/pets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const CLIENTS = 3;
/** For each burst of creates, the number of 201 responses after which the test kills the service. */
const RESPONSES_BEFORE_KILL = [1, 3, 8, 16, 30];

/** A pet that a client creates. Every second one has an `Idempotency-Key`. */
interface RequestedPet {
  name: string;
  key: string | undefined;
  requests: number;
  /** Ids in the 201 responses that the client received. */
  ids: Set<bigint>;
}

interface StoredPet {
  id: bigint;
  name: string;
}

/** All pets that any of the tests has tried to create, because the tests share a data folder. */
const requested: RequestedPet[] = [];
const data = temporaryFolder();
let service: LocalService | undefined;

afterEach(async () => {
  await service?.stop('SIGKILL');
});

async function start(): Promise<LocalService> {
  const assembly = await sharedSynthesis();
  service = await startLocalService('--data', data, '--assembly', assembly);
  return service;
}

/** Creates a pet. Returns whether a complete response arrived before the service exited. */
async function create(to: LocalService, pet: RequestedPet): Promise<boolean> {
  pet.requests += 1;
  const content = newPet(pet.name);
  const headers: Record<string, string> = pet.key ? { 'Idempotency-Key': pet.key } : {};
  const init = { method: 'POST', headers, body: stringifyJson(content) };
  const response = await to
    .request('/pets', init)
    .then(async (received) => ({ status: received.status, body: await received.text() }))
    .catch(() => undefined);
  if (!response) return false;
  const { id, ...created } = parseJson(response.body) as StoredPet;
  expect([response.status, created]).toEqual([201, content]);
  pet.ids.add(id);
  return true;
}

/** Creates pets until the service exits, and kills it after `responsesBeforeKill` 201s. Returns the pets of all requests. */
async function createUntilExit(victim: LocalService, responsesBeforeKill = Infinity) {
  const burst: RequestedPet[] = [];
  async function createPets(): Promise<void> {
    let isCreated = true;
    while (isCreated) {
      const number = requested.length;
      const key = number % 2 === 0 ? `key-${number}` : undefined;
      const pet: RequestedPet = { name: `Pet ${number}`, key, requests: 0, ids: new Set() };
      requested.push(pet);
      burst.push(pet);
      isCreated = await create(victim, pet);
      if (burst.filter(({ ids }) => ids.size > 0).length >= responsesBeforeKill)
        victim.process.kill('SIGKILL');
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, createPets));
  return burst;
}

/** Follows the links from page to page. Returns the pets of all pages. */
async function listAll(from: LocalService): Promise<StoredPet[]> {
  const pets: StoredPet[] = [];
  for (let path: string | undefined = '/pets?limit=100'; path;) {
    const response = await from.request(path);
    pets.push(...(parseJson(await response.text()) as StoredPet[]));
    path = /\/v1(\/[^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
  }
  return pets;
}

/** Returns a sentence for each pet that is missing, stored twice, changed or unknown. */
function violationsIn(pets: StoredPet[]): string[] {
  const violations: string[] = [];
  const byName = Map.groupBy(pets, ({ name }) => name);
  if (new Set(pets.map(({ id }) => id)).size < pets.length) violations.push('A pet is listed twice.');
  for (const { name, key, requests, ids } of requested) {
    const copies = byName.get(name) ?? [];
    byName.delete(name);
    const stored = new Set(copies.map(({ id }) => id));
    for (const id of ids.difference(stored)) violations.push(`${name} is missing despite a 201 for ${id}.`);
    const most = key ? 1 : requests;
    if (copies.length > most) violations.push(`${name} is stored ${copies.length} times.`);
    const expected = stringifyJson(newPet(name));
    const changed = copies.filter(({ id: _id, ...content }) => stringifyJson(content) !== expected);
    if (changed.length > 0) violations.push(`${name} is stored with other content.`);
  }
  for (const name of byName.keys()) violations.push(`${name} is stored, but no client created it.`);
  return violations;
}

test('the local service stores each acknowledged pet exactly once even if it is killed during creates', async () => {
  let running = await start();
  for (const responses of RESPONSES_BEFORE_KILL) {
    const killed = once(running.process, 'exit');
    const burst = await createUntilExit(running, responses);
    expect(await killed).toEqual([null, 'SIGKILL']);
    running = await start();
    // A retry returns the stored pet, or creates a pet if the first attempt stored none.
    for (const pet of burst.filter(({ key }) => key)) expect(await create(running, pet)).toBe(true);
    expect(violationsIn(await listAll(running))).toEqual([]);
  }
  // A list reads an index and a get reads the table, so their responses would differ for a partially stored pet.
  for (const pet of await listAll(running)) {
    const response = await running.request(`/pets/${pet.id}`);
    expect([response.status, await response.text()]).toEqual([200, stringifyJson(pet)]);
  }
});

(spawnSync('prlimit', ['--version']).error ? describe.skip : describe)('a simulated full disk', () => {
  test('stops the local service without the loss of an acknowledged pet', async () => {
    const victim = await start();
    const ended = once(victim.process, 'close');
    // This limits the size of the service's files. The service reports an exceeded limit as a full disk.
    spawnSync('prlimit', [`--fsize=${256 * 1024}`, '--pid', `${victim.process.pid}`]);
    const burst = await createUntilExit(victim);
    expect(await ended).toEqual([1, null]);
    expect(victim.output()).toMatch(/\nThe disk is full .+ The stored data is intact\.\n$/);
    expect(violationsIn(await listAll(await start()))).toEqual([]);
    expect(burst.some(({ ids }) => ids.size > 0)).toBe(true);
  });
});
