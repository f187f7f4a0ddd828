import { setTimeout } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { stringifyJson } from '../../shared/contract/json.ts';
import { isDeployed, nextLink, post, request } from './client.ts';
import { WAIT_LIMIT_MILLISECONDS } from '../support/limits.ts';
import { newPet } from '../support/pets.ts';

const PAUSE_MILLISECONDS = 50;
/** Time in which a list must contain new pets, in milliseconds. On AWS, a list is eventually consistent. */
const LISTED_MILLISECONDS = isDeployed ? WAIT_LIMIT_MILLISECONDS : 5_000;
/** Maximum number of concurrent create requests. Some AWS accounts allow only 10 concurrent Lambda invocations. */
const CONCURRENT_CREATES = 5;

/** A pet in a response. Integers are bigints. */
export interface StoredPet {
  id: bigint;
  name: string;
  categoryId: bigint;
  status?: string;
}

/** Creates a pet. @throws Error with the response if the service rejects the pet */
export async function addPet(fields: Record<string, unknown> = {}): Promise<StoredPet> {
  const { status, text, body } = await post(
    '/pets',
    { ...newPet('a text'), ...fields },
    { 'Idempotency-Key': randomUUID() },
  );
  if (status !== 201) throw new Error(`The pet was rejected: ${status} ${text}`);
  return body as StoredPet;
}

export async function addPets(count: number, fields?: Record<string, unknown>): Promise<StoredPet[]> {
  const pets: StoredPet[] = [];
  while (pets.length < count) {
    const length = Math.min(CONCURRENT_CREATES, count - pets.length);
    pets.push(...(await Promise.all(Array.from({ length }, () => addPet(fields)))));
  }
  return pets;
}

/** Returns the path and query of a list, relative to the base URL. */
export function listAddress(query: Record<string, string | number>): string {
  return `/pets?${new URLSearchParams(query as Record<string, string>).toString()}`;
}

/**
 * Follows the links from page to page and returns all pets, including other clients' pets, down to the id `oldest`.
 *
 * @throws Error if the service rejects a request, or if the ids do not descend from page to page. The walk thus ends even
 *   if each page has a link.
 */
export async function walk(address: string, oldest: bigint): Promise<StoredPet[]> {
  const pets: StoredPet[] = [];
  for (let next: string | undefined = address; next;) {
    const page = await request(next);
    if (page.status !== 200) throw new Error(`The response to ${next} was ${page.status} ${page.text}`);
    const listed = page.body as StoredPet[];
    if (next !== address && listed.length === 0) throw new Error(`A page links to the empty page ${next}`);
    for (const pet of listed) {
      const { id: previous } = pets.at(-1) ?? { id: pet.id + 1n };
      if (pet.id >= previous) throw new Error(`In ${next}, the pet ${pet.id} follows the pet ${previous}.`);
      pets.push(pet);
    }
    if (pets.some(({ id }) => id <= oldest)) break;
    next = nextLink(page);
  }
  return pets.filter(({ id }) => id >= oldest);
}

/**
 * Waits until a list contains all given pets.
 *
 * @param filter query parameters of the list @default - no filter
 * @returns all pets in the list, down to the oldest given pet
 * @throws Error if the list still does not contain all given pets after the time limit
 */
export async function untilListed(
  pets: StoredPet[],
  filter: Record<string, string> = {},
): Promise<StoredPet[]> {
  const wanted = pets.map(({ id }) => id);
  const oldest = wanted.reduce((one, other) => (one < other ? one : other));
  const deadline = Date.now() + LISTED_MILLISECONDS;
  for (;;) {
    const listed = await walk(listAddress({ ...filter, limit: 100 }), oldest);
    const ids = new Set(listed.map(({ id }) => id));
    if (wanted.every((id) => ids.has(id))) return listed;
    if (Date.now() > deadline) throw new Error(`The list does not contain all of ${wanted.join(', ')}`);
    await setTimeout(PAUSE_MILLISECONDS);
  }
}

/** Returns the pets whose name contains `text` and that were added after the pet `first`, once the list contains them. */
export async function petsNamed(text: string, first: StoredPet): Promise<StoredPet[]> {
  const pets = await untilListed([first, await addPet()]);
  return pets.filter((pet) => stringifyJson(pet).includes(text));
}
