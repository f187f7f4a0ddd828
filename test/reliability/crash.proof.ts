import { afterEach, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { type NewPet, type Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const CLIENTS = 3;
/** For each burst of creates, the number of 201 responses after which the test kills the service. */
const RESPONSES_BEFORE_KILL = [1, 2, 3, 5, 8, 12, 16, 20, 25, 30];

const statuses = [...PetStatus.options, undefined];
const data = temporaryFolder();
let service: LocalService | undefined;

afterEach(async () => {
  await service?.stop('SIGKILL');
});

interface Creation {
  newPet: NewPet;
  idempotencyKey: string | undefined;
  /** The pet in the 201, or undefined if no response arrived. */
  responded?: Pet;
}

/** Returns a create for a pet with a unique name. Half of the creates for each status have an Idempotency-Key. */
function newCreation(number: number): Creation {
  const status = statuses[number % statuses.length];
  return {
    newPet: {
      name: `Rex ${randomUUID()}`,
      categoryId: 2n ** 62n + BigInt(number),
      ...(status && { status }),
    },
    idempotencyKey: number % 8 < 4 ? randomUUID() : undefined,
  };
}

async function start(): Promise<LocalService> {
  service = await startLocalService('--data', data);
  return service;
}

interface ApiResponse {
  status: number;
  body: any;
  next: string | undefined;
}

async function call(to: LocalService, path: string, init?: RequestInit): Promise<ApiResponse> {
  const response = await to.request(path, init);
  const next = /\/v1(\/[^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
  return { status: response.status, body: parseJson(await response.text()), next };
}

/** Creates a pet. Returns undefined if the service exits before it responds. */
async function create(to: LocalService, { newPet, idempotencyKey }: Creation): Promise<Pet | undefined> {
  const headers: Record<string, string> = idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {};
  const init = { method: 'POST', headers, body: stringifyJson(newPet) };
  const response = await call(to, '/pets', init).catch(() => undefined);
  expect([201, undefined]).toContain(response?.status);
  return response?.body;
}

/** Returns all pets in the list. Fails if two pets have the same name. */
async function listAll(from: LocalService): Promise<Pet[]> {
  const pets: Pet[] = [];
  for (let next: string | undefined = '/pets?limit=100'; next;) {
    const page: ApiResponse = await call(from, next);
    pets.push(...(page.body as Pet[]));
    ({ next } = page);
  }
  expect(new Set(pets.map(({ name }) => name)).size).toBe(pets.length);
  return pets;
}

/** Creates pets with several clients and kills the service after `responses` 201s. Returns all attempted creates. */
async function killDuringBurst(victim: LocalService, responses: number): Promise<Creation[]> {
  const killed = once(victim.process, 'exit');
  const burst: Creation[] = [];
  let responded = 0;
  async function createUntilKilled(): Promise<void> {
    for (;;) {
      const one = newCreation(burst.length);
      burst.push(one);
      const pet = await create(victim, one);
      if (!pet) return;
      one.responded = pet;
      responded += 1;
      if (responded === responses) victim.process.kill('SIGKILL');
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, createUntilKilled));
  expect(await killed).toEqual([null, 'SIGKILL']);
  expect(responded).toBeGreaterThanOrEqual(responses);
  return burst;
}

/** Checks whether the stored pet equals the pet in the response, or the requested pet if no response arrived. */
function matches(pet: Pet, { newPet, responded }: Creation): boolean {
  return isDeepStrictEqual(pet, responded ?? { id: pet.id, ...newPet });
}

test('the local service stores each acknowledged pet exactly once even if killed during creates', async () => {
  const all = new Map<string, Creation>();
  let running = await start();
  for (const responses of RESPONSES_BEFORE_KILL) {
    const burst = await killDuringBurst(running, responses);
    for (const one of burst) all.set(one.newPet.name, one);
    running = await start();

    // A retry returns the stored pet. If the first attempt stored no pet, the retry creates it.
    for (const one of burst.filter(({ idempotencyKey }) => idempotencyKey)) {
      const pet = await create(running, one);
      expect(matches(pet!, one)).toBe(true);
      one.responded = pet!;
    }
    const listed = new Map((await listAll(running)).map((pet) => [pet.name, pet]));
    const lost = [...all.values()].filter(({ newPet, responded }) => responded && !listed.has(newPet.name));
    const wrong = [...listed].filter(([name, pet]) => !all.has(name) || !matches(pet, all.get(name)!));
    expect({ lost, wrong }).toEqual({ lost: [], wrong: [] });
  }
  // A partially stored pet would differ from the pet in the list.
  for (const pet of await listAll(running)) {
    expect(await call(running, `/pets/${pet.id}`)).toMatchObject({ status: 200, body: pet });
  }
});

(spawnSync('prlimit', ['--version']).error ? describe.skip : describe)('a full disk', () => {
  test('stops the local service without losing an acknowledged pet', async () => {
    const victim = await start();
    const ended = once(victim.process, 'close');
    // A limit on the size of files has the same effect as a full disk.
    spawnSync('prlimit', [`--fsize=${256 * 1024}`, '--pid', `${victim.process.pid}`]);
    const added: Pet[] = [];
    async function createUntilEnded(): Promise<void> {
      for (let pet; (pet = await create(victim, newCreation(added.length)));) added.push(pet);
    }
    await Promise.all(Array.from({ length: CLIENTS }, createUntilEnded));
    expect(await ended).toEqual([1, null]);
    expect(victim.output()).toMatch(
      /\nThe disk is full \(IO error: .*: File too large\)\. Free disk space and restart the local service\. The stored data is intact\.\n$/,
    );
    const listed = new Map((await listAll(await start())).map((pet) => [pet.name, pet]));
    expect(added.map(({ name }) => listed.get(name))).toEqual(added);
    expect(added.length).toBeGreaterThan(0);
  });
});
