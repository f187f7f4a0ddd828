import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { PAGE } from '../../shared/contract/limits.ts';
import { type ApiResponse, nextLink, post, request } from './client.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';
import { validBody } from './sample.ts';
import type { Pet } from '../../shared/contract/pets.ts';

const PAUSE_MILLISECONDS = 50;
/** Maximum number of concurrent create requests. Some AWS accounts allow only 10 concurrent Lambda invocations. */
const CONCURRENT_CREATES = 5;

/** Creates a pet with an idempotency key. @throws Error with the response if the service rejects the pet */
export async function addPet(body: object = validBody): Promise<Pet> {
  const response = await post(body, { 'Idempotency-Key': randomUUID() });
  if (response.status !== 201) throw new Error(`The pet was rejected: ${response.status} ${response.text}`);
  return response.body as Pet;
}

export async function addPets(count: number, body?: object): Promise<Pet[]> {
  const pets: Pet[] = [];
  while (pets.length < count) {
    const length = Math.min(CONCURRENT_CREATES, count - pets.length);
    pets.push(...(await Promise.all(Array.from({ length }, () => addPet(body)))));
  }
  return pets;
}

/** Returns the path and query of a list with the parameters in `query`, relative to the base URL. */
export function listAddress(query: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  return `/pets?${parameters.toString()}`;
}

/**
 * Follows the links from page to page and returns all pets, including other clients' pets, down to the id `oldest`.
 *
 * @throws Error if the service rejects a request, or if a page links to an earlier page or an empty page
 */
export async function walk(address: string, oldest: bigint): Promise<Pet[]> {
  const pets: Pet[] = [];
  const visited = new Set<string>();
  for (let next: string | undefined = address; next;) {
    if (visited.has(next)) throw new Error(`A page after ${next} links back to this URL.`);
    visited.add(next);
    const page: ApiResponse = await request(next);
    if (page.status !== 200) throw new Error(`The response to ${next} was ${page.status} ${page.text}`);
    if (visited.size > 1 && page.body.length === 0) throw new Error(`A page links to the empty page ${next}`);
    pets.push(...(page.body as Pet[]));
    if ((pets.at(-1)?.id ?? oldest) < oldest) break;
    next = nextLink(page);
  }
  return pets.filter(({ id }) => id >= oldest);
}

/**
 * Waits until a list contains all given pets, because lists are eventually consistent.
 *
 * @param filter query parameters of the list @default - no filter
 * @returns all pets in the list, down to the oldest given pet
 * @throws Error if the list still does not contain all given pets after the time limit
 */
export async function untilListed(pets: Pet[], filter: object = {}): Promise<Pet[]> {
  const wanted = pets.map(({ id }) => id);
  const oldest = wanted.reduce((one, other) => (one < other ? one : other));
  const deadline = Date.now() + WAIT_LIMIT_MILLISECONDS;
  for (;;) {
    const listed = await walk(listAddress({ ...filter, limit: PAGE.maximum }), oldest);
    const ids = new Set(listed.map(({ id }) => id));
    if (wanted.every((id) => ids.has(id))) return listed;
    if (Date.now() > deadline) throw new Error(`The list does not contain all of ${wanted.join(', ')}`);
    await setTimeout(PAUSE_MILLISECONDS);
  }
}

/** Adds a pet and waits until the list contains it. Returns the pets from the newest pet to `first`. */
export async function petsAddedAfter(first: Pet): Promise<Pet[]> {
  return untilListed([first, await addPet()]);
}

/** Like `petsAddedAfter`, but returns only the pets with the given name. */
export async function petsNamed(name: string, first: Pet): Promise<Pet[]> {
  return (await petsAddedAfter(first)).filter((pet) => pet.name === name);
}
