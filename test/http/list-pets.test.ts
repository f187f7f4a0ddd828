import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { type ApiResponse, baseUrl, expectError, expectSuccess, linkTo, request } from '../support/client.ts';
import { addPet, addPets, pages, untilListed, walk } from '../support/pets.ts';

/** Pets of each status and of none, newer than the pet with the id `oldest`. */
let recent: Pet[];
let oldest: bigint;

beforeAll(async () => {
  // With more pets than a page can have, only `limit` ends a page.
  const older = await addPets(100);
  ({ id: oldest } = await addPet());
  recent = await addPets(3);
  for (const status of PetStatus.options) recent.push(...(await addPets(3, { status })));
  await untilListed([...older, ...recent]);
  for (const status of PetStatus.options) await untilListed(recentOf(status), `status=${status}`);
});

describe('The query of GET /v1/pets', () => {
  test.each([
    ['', 20],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?%6Cimit=%33', 3],
    // Unknown parameters are ignored.
    ['?limit=3&limit[]=0&LIMIT=0&Status=lost&offset=-1', 3],
    ['?limit=3&colour=red&colour=blue', 3],
    ['?limit=3&colour=%zz&%zz=%ff', 3],
    ['?limit=3&__proto__=1&constructor=1', 3],
    ['?limit=3&=&&%=%', 3],
  ])('limits the number of pets: %p, %d pets', async (query, limit) => {
    const response = await request(`/pets${query}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.body).toHaveLength(limit);
  });

  describe.each([
    ['limit', ['0', '101', '1.5', '5.0', '05', 'abc', '', '%205', '%zz', '5&limit=5']],
    ['status', ['lost', 'Sold', '', 'available,sold', '%00', '%ff', 'sold&status=sold']],
    ['cursor', ['a&cursor=a']],
  ])('is rejected for a %s that breaks its rule, by name:', (name, values) => {
    test.each(values)('%p', async (value) => {
      const message = expect.stringMatching(
        new RegExp(`^${name} must be (?:a single|exactly one) [^;]+\\.$`),
      );
      expectError(await request(`/pets?${name}=${value}`), 'invalid_request', message);
    });
  });

  test.each<[string, (link: string) => string]>([
    ['is empty', (link) => link.replace(/(?<=cursor=).*/, '')],
    ['lacks its start', (link) => link.replace(/(?<=cursor=)./, '')],
    ['lacks its end', (link) => link.slice(0, -1)],
    ['has padding', (link) => `${link}%3D`],
    ['has another character', (link) => `${link}A`],
    ['has white space', (link) => link.replace('cursor=', 'cursor=%20')],
    ['is for another status', (link) => link.replace('sold', 'pending')],
    ['is for a status', (link) => link.replace('&status=sold', '')],
  ])('is rejected for a cursor that %s', async (_what, change) => {
    const link = linkTo('next', await request('/pets?limit=1&status=sold'))!;
    const message = 'cursor is not valid for this list; omit cursor to start from the first page.';
    expectError(await request(change(link)), 'invalid_request', message);
  });

  test('is rejected with a message that names everything that is wrong', async () => {
    const message = expect.stringMatching(/^limit must .*; status must .*; cursor is not .*\.$/);
    expectError(await request('/pets?limit=0&status=lost&cursor=?'), 'invalid_request', message);
  });
});

describe('The link to the next page of GET /v1/pets', () => {
  test.each([
    ['', { limit: '20' }],
    ['/', { limit: '20' }],
    ['?limit=3&colour=red', { limit: '3' }],
    ['?status=sold&limit=2', { limit: '2', status: 'sold' }],
  ])('repeats the known parameters and adds a cursor: %p', async (query, parameters) => {
    const { headers } = await request(`/pets${query}`);
    const [, address, search] = /^<([^<>?]+)\?([^<>]+)>; rel="next"$/.exec(headers.get('Link') ?? '') ?? [];
    expect(address).toBe(`${baseUrl}/pets`);
    expect(Object.fromEntries(new URLSearchParams(search))).toEqual({
      ...parameters,
      cursor: expect.stringMatching(/^[\w-]+$/),
    });
  });

  test('exists while there are more pets, and only then', async () => {
    // The pages below a link do not change, whatever is added: the end of the list can be approached exactly.
    let start = linkTo('next', await request('/pets?status=sold&limit=1'))!;
    const below = await pagesOf(withLimit(start, 100));
    expect(lengths(below.slice(0, -1))).toEqual(below.slice(1).map(() => 100));
    const last = below.at(-1)!;
    const [left] = lengths([last]) as [number];
    if (below.length > 1) start = linkTo('next', below.at(-2)!)!;

    const exact = await pagesOf(withLimit(start, left));
    expect(exact.map(({ text }) => text)).toEqual([last.text]);
    // A single pet on the last page needed a link, too.
    const oneLess = Math.max(left - 1, 1);
    expect(lengths(await pagesOf(withLimit(start, oneLess)))).toEqual(left > 1 ? [oneLess, 1] : [1]);
  });
});

describe('The pages of GET /v1/pets', () => {
  test.each([1, 2, 5, 100])('have every pet once, newest first, with limit=%d', async (limit) => {
    expectOnce(await walk(`/pets?limit=${limit}`, oldest), recent);
  });

  test.each(PetStatus.options)('have every pet with the status %s once, and no other', async (status) => {
    const pets = await walk(`/pets?status=${status}&limit=2`, oldest);
    expectOnce(pets, recentOf(status));
    expect(pets.filter((pet) => pet.status !== status)).toEqual([]);
  });

  test.each([
    ['all', 'limit=2', undefined],
    ['of a status', 'limit=1&status=sold', 'sold' as const],
  ])('have every pet once while others are added: %s', async (_what, query, status) => {
    const walked = new AbortController();
    async function keepAdding(): Promise<void> {
      while (!walked.signal.aborted) await addPet(status && { status });
    }
    const walking = walk(`/pets?${query}`, oldest).finally(() => walked.abort());
    const [pets] = await Promise.all([walking, keepAdding(), keepAdding()]);
    expectOnce(pets, status ? recentOf(status) : recent);
  });
});

function recentOf(status: PetStatus): Pet[] {
  return recent.filter((pet) => pet.status === status);
}

/** Expects all these pets as they were created, among others, in descending order of their ids. */
function expectOnce(pets: Pet[], known: Pet[]): void {
  const ids = pets.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => (one > other ? -1 : 1)));
  expect(pets).toEqual(expect.arrayContaining(known));
}

async function pagesOf(address: string): Promise<ApiResponse[]> {
  const found: ApiResponse[] = [];
  for await (const page of pages(address)) found.push(page);
  return found;
}

function lengths(responses: ApiResponse[]): number[] {
  return responses.map(({ body }) => (body as Pet[]).length);
}

function withLimit(address: string, limit: number): string {
  return address.replace(/limit=\d+/, `limit=${limit}`);
}
