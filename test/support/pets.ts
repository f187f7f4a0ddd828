import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';
import { type Answer, linkTo, postPet, request } from './client.ts';

const PAUSE_MILLISECONDS = 50;
/** Deployed functions start cold, account by account with little concurrency. */
const AT_A_TIME = 5;

/** A name that no other pet has, by which to find a pet among those that others add. */
export function uniqueName(): string {
  return `Rex ${randomUUID()}`;
}

/** @throws Error with the answer when the pet is refused. */
export async function addPet(fields: { name?: string; status?: PetStatus } = {}): Promise<Pet> {
  const answer = await postPet({ name: uniqueName(), categoryId: 7, ...fields });
  if (answer.status !== 201) throw new Error(`The pet was refused: ${answer.status} ${answer.text}`);
  return answer.body as Pet;
}

export async function addPets(count: number, fields: { status?: PetStatus } = {}): Promise<Pet[]> {
  const pets: Pet[] = [];
  while (pets.length < count) {
    const batch = Array.from({ length: Math.min(AT_A_TIME, count - pets.length) }, () => addPet(fields));
    pets.push(...(await Promise.all(batch)));
  }
  return pets;
}

/**
 * The pages of a list, by its links, from this address on.
 *
 * @throws Error when a page is refused, or when the links go round in a circle.
 */
export async function* pages(address: string): AsyncGenerator<Answer, void> {
  const visited = new Set<string>();
  for (let next: string | undefined = address; next;) {
    if (visited.has(next)) throw new Error(`${next} leads back to itself`);
    visited.add(next);
    const page: Answer = await request(next);
    if (page.status !== 200) throw new Error(`${next} was answered ${page.status} ${page.text}`);
    yield page;
    next = linkTo('next', page);
  }
}

/** The pets that a list gives, page after page, down to the identifier `oldest`: others may have added many more. */
export async function walk(address: string, oldest: bigint): Promise<Pet[]> {
  const pets: Pet[] = [];
  for await (const page of pages(address)) {
    pets.push(...(page.body as Pet[]));
    if ((pets.at(-1)?.id ?? oldest) < oldest) break;
  }
  return pets.filter(({ id }) => id >= oldest);
}

/**
 * Waits until a list, which follows what is added within moments, gives all these pets.
 *
 * @throws Error when it does not in time.
 */
export async function untilListed(pets: Pet[], query = 'limit=100'): Promise<void> {
  const oldest = oldestOf(pets);
  const deadline = Date.now() + WAIT_LIMIT_MILLISECONDS;
  for (;;) {
    const listed = new Set(idsOf(await walk(`/pets?${query}`, oldest)));
    if (pets.every(({ id }) => listed.has(id))) return;
    if (Date.now() > deadline) throw new Error(`Not listed under ${query}: ${idsOf(pets).join(', ')}`);
    await setTimeout(PAUSE_MILLISECONDS);
  }
}

/** All pets that were added after this one, once the list has caught up with this moment. */
export async function petsAddedAfter(first: Pet): Promise<Pet[]> {
  const last = await addPet();
  await untilListed([first, last]);
  return walk('/pets?limit=100', first.id);
}

/** Rows for test.each that show the start of a text only, for the sake of readable reports. */
export function titled(texts: string[]): [title: string, text: string][] {
  return texts.map((text) => [text.length > 40 ? `${text.slice(0, 40)}…` : text, text]);
}

export function idsOf(pets: Pet[]): bigint[] {
  return pets.map(({ id }) => id);
}

/** The smallest identifier: where a walk that is to meet all these pets may end. */
export function oldestOf(pets: Pet[]): bigint {
  return idsOf(pets).reduce((one, other) => (one < other ? one : other));
}
