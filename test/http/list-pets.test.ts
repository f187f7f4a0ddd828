import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { type ApiResponse, baseUrl, expectError, expectSuccess, linkTo, request } from '../support/client.ts';
import { addPet, addPets, pages, untilListed, walk } from '../support/pets.ts';

/** Pets with each status and without a status, all newer than the pet with the id `oldest`. */
let recent: Pet[];
let oldest: bigint;

beforeAll(async () => {
  // These pets fill the longest page, so that only `limit` determines the length of a page.
  const older = await addPets(100);
  ({ id: oldest } = await addPet());
  recent = await addPets(3);
  for (const status of PetStatus.options) recent.push(...(await addPets(3, { status })));
  await untilListed([...older, ...recent]);
  for (const status of PetStatus.options) await untilListed(recentOf(status), `status=${status}`);
});

describe('GET /v1/pets', () => {
  test.each([
    ['', 20],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?%6Cimit=%33', 3],
    // These queries contain unknown parameters, which the service must ignore.
    ['?limit=3&limit[]=0&LIMIT=0&Status=lost&offset=-1', 3],
    ['?limit=3&color=red&color=blue', 3],
    ['?limit=3&color=%zz&%zz=%ff', 3],
    ['?limit=3&__proto__=1&constructor=1', 3],
    ['?limit=3&=&&%=%', 3],
  ])('responds to the query %p with %d pets', async (query, limit) => {
    const response = await request(`/pets${query}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.body).toHaveLength(limit);
  });

  describe.each([
    ['limit', ['0', '101', '1.5', '5.0', '05', 'abc', '', '%205', '%zz', '5&limit=5']],
    ['status', ['nonsense', 'Sold', '', 'available,sold', '%00', '%ff', 'sold&status=sold']],
    ['cursor', ['a&cursor=a']],
  ])('rejects an invalid %s with a message about the parameter', (name, values) => {
    test.each(values)('%p', async (value) => {
      const message = expect.stringMatching(
        new RegExp(`^${name} must be (?:a single|exactly one) [^;]+\\.$`),
      );
      expectError(await request(`/pets?${name}=${value}`), 'invalid_request', message);
    });
  });

  test.each<[string, (link: string) => string]>([
    ['is empty', (link) => link.replace(/(?<=cursor=).*/, '')],
    ['lacks its first character', (link) => link.replace(/(?<=cursor=)./, '')],
    ['lacks its last character', (link) => link.slice(0, -1)],
    ['has padding', (link) => `${link}%3D`],
    ['has an additional character', (link) => `${link}A`],
    ['has a leading space', (link) => link.replace('cursor=', 'cursor=%20')],
    ['is sent with a different status', (link) => link.replace('sold', 'pending')],
    ['is sent without its status', (link) => link.replace('&status=sold', '')],
  ])('rejects a cursor that %s', async (_case, change) => {
    const link = linkTo('next', await request('/pets?limit=1&status=sold'))!;
    const message = 'cursor must be from a page of this list, or omitted.';
    expectError(await request(change(link)), 'invalid_request', message);
  });

  test('rejects invalid parameters with a message about all of them', async () => {
    const message = expect.stringMatching(/^limit must .*; status must .*; cursor must .*\.$/);
    expectError(await request('/pets?limit=0&status=nonsense&cursor=?'), 'invalid_request', message);
  });
});

describe('the link to the next page of GET /v1/pets', () => {
  test.each([
    ['', { limit: '20' }],
    ['/', { limit: '20' }],
    ['?limit=3&color=red', { limit: '3' }],
    ['?status=sold&limit=2', { limit: '2', status: 'sold' }],
  ])('contains a cursor and the known parameters of the query %p', async (query, parameters) => {
    const { headers } = await request(`/pets${query}`);
    const [, url, search] = /^<([^<>?]+)\?([^<>]+)>; rel="next"$/.exec(headers.get('Link') ?? '') ?? [];
    expect(url).toBe(`${baseUrl}/pets`);
    expect(Object.fromEntries(new URLSearchParams(search))).toEqual({
      ...parameters,
      cursor: expect.stringMatching(/^[\w-]+$/),
    });
  });

  test('is present only if there are more pets', async () => {
    // New pets do not change the pages after `start`, so the test can request a page that ends with the oldest pet.
    let start = linkTo('next', await request('/pets?status=sold&limit=1'))!;
    const below = await pagesOf(withLimit(start, 100));
    expect(lengths(below.slice(0, -1))).toEqual(below.slice(1).map(() => 100));
    const last = below.at(-1)!;
    const [left] = lengths([last]) as [number];
    if (below.length > 1) start = linkTo('next', below.at(-2)!)!;

    const exact = await pagesOf(withLimit(start, left));
    expect(exact.map(({ text }) => text)).toEqual([last.text]);
    // The second-to-last page must have a link even if the last page contains only one pet.
    const oneLess = Math.max(left - 1, 1);
    expect(lengths(await pagesOf(withLimit(start, oneLess)))).toEqual(left > 1 ? [oneLess, 1] : [1]);
  });
});

describe('the pages of GET /v1/pets', () => {
  test.each([1, 2, 5, 100])('contain every pet once if the limit is %d', async (limit) => {
    expectOnce(await walk(`/pets?limit=${limit}`, oldest), recent);
  });

  test.each(PetStatus.options)('contain every pet with the status %s once', async (status) => {
    const pets = await walk(`/pets?status=${status}&limit=2`, oldest);
    expectOnce(pets, recentOf(status));
    expect(pets.filter((pet) => pet.status !== status)).toEqual([]);
  });

  test.each([
    ['every pet', 'limit=2', undefined],
    ['every pet with a status', 'limit=1&status=sold', 'sold' as const],
  ])('contain %s once even if new pets are added', async (_case, query, status) => {
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

/** Expects that `pets` include all `known` pets, have descending ids and contain no duplicates. */
function expectOnce(pets: Pet[], known: Pet[]): void {
  const ids = pets.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => (one > other ? -1 : 1)));
  expect(pets).toEqual(expect.arrayContaining(known));
}

async function pagesOf(url: string): Promise<ApiResponse[]> {
  const found: ApiResponse[] = [];
  for await (const page of pages(url)) found.push(page);
  return found;
}

function lengths(responses: ApiResponse[]): number[] {
  return responses.map(({ body }) => (body as Pet[]).length);
}

function withLimit(url: string, limit: number): string {
  return url.replace(/limit=\d+/, `limit=${limit}`);
}
