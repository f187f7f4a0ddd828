import { isDeepStrictEqual } from 'node:util';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { seededInteger } from '../support/fault-proxy.ts';
import type { NewPet, Pet } from '../../shared/contract/pets.ts';

/** A pet that a client creates. Half of the pets have an `Idempotency-Key`. */
export interface RequestedPet {
  content: NewPet;
  key: string | undefined;
  requests: number;
  /** Ids in all 201 responses, including lost responses. */
  ids: Set<bigint>;
}

/** Fields of the created pets, except their names. */
const contents: Omit<NewPet, 'name'>[] = [
  { categoryId: 7n, status: 'available' },
  { categoryId: 7n, status: 'pending' },
  { categoryId: 7n, status: 'sold' },
  { categoryId: 7n },
  { categoryId: -(2n ** 63n) },
];

/** Returns a pet with a unique name. `seed` and `number` determine the pet's other fields. */
export function petToRequest(seed: number, number: number): RequestedPet {
  const content = contents[seededInteger(contents.length, seed, 'input', number)]!;
  const key = number % 2 === 0 ? `key-${number}` : undefined;
  return { content: { ...content, name: `Pet ${number}` }, key, requests: 0, ids: new Set() };
}

export function createRequest({ content, key }: Pick<RequestedPet, 'content' | 'key'>) {
  const headers = { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) };
  return { method: 'POST', headers, body: stringifyJson(content) };
}

/** Reads all pages of the list. @param read sends a list request to a path relative to the base URL */
export async function listAll(
  read: (path: string) => Promise<{ body: string; link: string | null | undefined }>,
): Promise<Pet[]> {
  const pets: Pet[] = [];
  for (let path: string | undefined = `/pets?limit=${PAGE.maximum}`; path;) {
    const { body, link } = await read(path);
    pets.push(...(parseJson(body) as Pet[]));
    path = /\/v1(\/[^>]*)>; rel="next"/.exec(link ?? '')?.[1];
  }
  return pets;
}

/** Returns one sentence for each violated guarantee. @param pets all pets in the list */
export function violationsOf(requested: RequestedPet[], pets: Pet[]): string[] {
  const violations: string[] = [];
  const foundIds = new Set(pets.map(({ id }) => id));
  if (foundIds.size < pets.length) violations.push('The list contains a pet more than once.');

  const foundByName = Map.groupBy(pets, (pet) => pet.name);
  for (const { content, key, requests, ids } of requested) {
    const { name } = content;
    const copies = foundByName.get(name) ?? [];
    foundByName.delete(name);
    for (const copy of copies) {
      if (!isDeepStrictEqual(copy, { id: copy.id, ...content }))
        violations.push(`${name} is stored with different content.`);
    }
    for (const id of ids)
      if (!foundIds.has(id)) violations.push(`${name} is missing despite a 201 response.`);
    if (copies.length > requests) {
      violations.push(`${name} is stored ${copies.length} times after ${requests} requests.`);
    }
    if (key && (ids.size > 1 || copies.length > 1)) {
      violations.push(
        `${name} has an Idempotency-Key but ${ids.size} ids and ${copies.length} stored copies.`,
      );
    }
  }
  for (const name of foundByName.keys()) violations.push(`${name} is stored, but no client created it.`);
  return violations;
}
