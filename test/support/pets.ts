import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { type ApiResponse, linkTo, postPet, request } from './client.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';

const PAUSE_MILLISECONDS = 50;
/** Maximum number of concurrent create requests. Some AWS accounts have a low concurrency limit. */
const CONCURRENT_CREATES = 5;

/** Returns a unique name, which distinguishes the test's pet from other clients' pets. */
export function uniqueName(): string {
  return `Rex ${randomUUID()}`;
}

/** Creates a pet with an idempotency key. @throws Error with the response if the service rejects the pet */
export async function addPet(fields: { name?: string; status?: PetStatus } = {}): Promise<Pet> {
  const pet = { name: uniqueName(), categoryId: 7, ...fields };
  const response = await postPet(pet, { 'Idempotency-Key': randomUUID() });
  if (response.status !== 201) throw new Error(`The pet was rejected: ${response.status} ${response.text}`);
  return response.body as Pet;
}

export async function addPets(count: number, fields: { status?: PetStatus } = {}): Promise<Pet[]> {
  const pets: Pet[] = [];
  while (pets.length < count) {
    const batch = Array.from({ length: Math.min(CONCURRENT_CREATES, count - pets.length) }, () =>
      addPet(fields),
    );
    pets.push(...(await Promise.all(batch)));
  }
  return pets;
}

/**
 * Yields the pages of a list, starting with the URL `address`.
 *
 * @throws Error if the service rejects a request or a link leads back to an earlier page
 */
export async function* pages(address: string): AsyncGenerator<ApiResponse, void> {
  const visited = new Set<string>();
  for (let next: string | undefined = address; next;) {
    if (visited.has(next)) throw new Error(`A page after ${next} links back to this URL.`);
    visited.add(next);
    const page: ApiResponse = await request(next);
    if (page.status !== 200) throw new Error(`The response to ${next} was ${page.status} ${page.text}`);
    yield page;
    next = linkTo('next', page);
  }
}

/** Returns the pets in a list, down to the id `oldest`. The list can contain other clients' pets. */
export async function walk(address: string, oldest: bigint): Promise<Pet[]> {
  const pets: Pet[] = [];
  for await (const page of pages(address)) {
    pets.push(...(page.body as Pet[]));
    if ((pets.at(-1)?.id ?? oldest) < oldest) break;
  }
  return pets.filter(({ id }) => id >= oldest);
}

/**
 * Waits until a list contains all given pets, because lists are eventually consistent.
 *
 * @returns the pets in the list, down to the oldest given pet
 * @throws Error if the list is still incomplete after the time limit
 */
export async function untilListed(pets: Pet[], query = 'limit=100'): Promise<Pet[]> {
  const wanted = pets.map(({ id }) => id);
  const oldest = wanted.reduce((one, other) => (one < other ? one : other));
  const deadline = Date.now() + WAIT_LIMIT_MILLISECONDS;
  for (;;) {
    const listed = await walk(`/pets?${query}`, oldest);
    const ids = new Set(listed.map(({ id }) => id));
    if (wanted.every((id) => ids.has(id))) return listed;
    if (Date.now() > deadline) throw new Error(`The list does not contain each of ${wanted.join(', ')}`);
    await setTimeout(PAUSE_MILLISECONDS);
  }
}

/** Waits until the list contains all pets that were added after the pet `first`, and returns these pets. */
export async function petsAddedAfter(first: Pet): Promise<Pet[]> {
  return untilListed([first, await addPet()]);
}

/** Waits until the list contains all pets that were added after the pet `first`. Returns the pets with the name. */
export async function petsNamed(name: string, first: Pet): Promise<Pet[]> {
  return (await petsAddedAfter(first)).filter((pet) => pet.name === name);
}
