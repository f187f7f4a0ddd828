import { describe, expect, test } from '@jest/globals';
import type { Pet } from '../../shared/contract/pets.ts';
import { baseUrl, expectError, expectSuccess, nextLink, post, request } from '../support/client.ts';
import { addPet, addPets, listAddress, untilListed, walk } from '../support/pets.ts';

const AVAILABLE = { status: 'available' };
const filters = [{}, AVAILABLE, { status: 'pending' }, { status: 'sold' }];

// There are enough pets for the longest page, so that only `limit` determines the length of a page.
const older = await addPets(100);
const { id: oldest } = await addPet();
/** Pets newer than `oldest`: three with each status, and three without a status. */
const recent: Pet[] = [];
for (const filter of filters) recent.push(...(await addPets(3, { name: 'Rex', categoryId: 7, ...filter })));
await untilListed([...older, ...recent]);
for (const filter of filters) await untilListed(recent.filter(matches(filter)), filter);

describe('GET /pets', () => {
  test.each([
    ['', 20],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?%6Cimit=%33', 3],
    // These queries contain unknown parameters, which the service must ignore.
    ['?limit=3&limit[]=0&LIMIT=0&Status=lost&offset=-1', 3],
    ['?limit=3&color=%zz&=&&%=%', 3],
  ])('with the query %p returns %d pets', async (query, limit) => {
    const response = await request(`/pets${query}`);
    if (response.isRejectedByAws) return;
    expectSuccess(response, 200);
    expect(response.body).toHaveLength(limit);
  });

  describe.each([
    [
      'limit',
      'limit must be a single integer from 1 to 100.',
      ['', 'x', '0', '-1', '101', '5.0', '05', '%205', '1e1', '%zz', '%00', '5,5', '5&limit=5'],
    ],
    [
      'status',
      'status must be exactly one of available, pending, sold.',
      ['', 'lost', 'AVAILABLE', '%20sold', '%zz', '%00', 'sold,sold', 'sold&status=sold'],
    ],
    [
      'cursor',
      'cursor must be from a page of this list, or omitted.',
      ['', 'x', '0', '5', '%205', 'NQ==', '%zz', '%00', 'x,x', 'x'.repeat(65)],
    ],
    ['cursor', 'cursor must be a single value.', ['x&cursor=x']],
  ])('rejects an invalid %s with the message "%s"', (name, message, values) => {
    test.each(values)('%p', async (value) => {
      // openapi.json contains only a pattern for cursors. None of these cursors is from a page.
      const init = { mayBeRejected: name === 'cursor' };
      expectError(await request(`/pets?${name}=${value}`, init), 400, 'invalid_request', message);
    });
  });

  test('lists all invalid parameters in one message', async () => {
    const message = expect.stringMatching(/^limit must be .*; status must be .*\.$/);
    expectError(await request('/pets?limit=0&status=lost'), 400, 'invalid_request', message);
  });

  test.each<[string, (link: string) => string]>([
    ['is empty', (link) => link.replace(/(?<=cursor=).*/, '')],
    ['lacks its last character', (link) => link.slice(0, -1)],
    ['has padding', (link) => `${link}%3D`],
    ['has an additional character', (link) => `${link}A`],
    ['is from the list without a status', (link) => link.replace('limit=1', 'limit=1&status=sold')],
  ])('returns a 400 if the cursor %s', async (_case, change) => {
    const link = nextLink(await request('/pets?limit=1'))!;
    const response = await request(change(link), { mayBeRejected: true });
    expectError(response, 400, 'invalid_request', expect.stringContaining('cursor'));
  });

  test.each([
    ['a different status', 'status=sold&'],
    ['no status', ''],
  ])('returns a 400 if a cursor of available pets is used with %s', async (_case, other) => {
    const link = nextLink(await request('/pets?limit=1&status=available'))!;
    expectSuccess(await request(link), 200);
    const changed = await request(link.replace('status=available&', other), { mayBeRejected: true });
    expectError(changed, 400, 'invalid_request', expect.stringContaining('cursor'));
  });

  test.each(['', '/', '?color=red'])(
    'links to the next page without unknown parameters (%p)',
    async (query) => {
      const link = nextLink(await request(`/pets${query}`))!;
      expect(link.replace(/[\w-]+$/, '')).toBe(`${baseUrl}/pets?limit=20&cursor=`);
    },
  );

  test.each([{}, { status: 'sold' }])('returns a pet as its create did (%p)', async (filter) => {
    const name = '🐕 "Rex" \\u0041 \0\t';
    const created = await post({ name, categoryId: 9007199254740993n, status: 'sold' });
    await untilListed([created.body], filter);
    const page = await request(listAddress({ ...filter, limit: 100 }));
    expect(page.text).toContain(created.text);
  });
});

describe('the pages of GET /pets', () => {
  test.each([1, 2, 5, 100])('contain every pet once if the limit is %d', async (limit) => {
    expectOnce(await walk(listAddress({ limit }), oldest), recent);
  });

  test.each(filters)('contain every matching pet once if the filter is %p', async (filter) => {
    const pets = await walk(listAddress({ ...filter, limit: 2 }), oldest);
    expectOnce(pets, recent.filter(matches(filter)));
    expect(pets.filter((pet) => !matches(filter)(pet))).toEqual([]);
  });

  test.each([1, 2])('end with the oldest pet if the limit of the last pages is %d', async (limit) => {
    // Starts at a cursor, because other test files add pets to the first page.
    let link = nextLink(await request('/pets?limit=1&status=available'))!;
    const pets = await walk(withLimit(link, 100), 0n);
    for (let left = pets.length - 2; left > 0; left -= 100)
      link = nextLink(await request(withLimit(link, Math.min(left, 100))))!;
    expect(await walk(withLimit(link, limit), 0n)).toEqual(pets.slice(-2));
  });

  test.each([{}, AVAILABLE])('contain every matching pet once while pets are added (%p)', async (filter) => {
    const walked = new AbortController();
    async function keepAdding(): Promise<void> {
      while (!walked.signal.aborted) await addPet({ name: 'Mia', categoryId: 7, ...filter });
    }
    const walking = walk(listAddress({ ...filter, limit: 1 }), oldest).finally(() => walked.abort());
    const [pets] = await Promise.all([walking, keepAdding(), keepAdding()]);
    expectOnce(pets, recent.filter(matches(filter)));
  });
});

function matches({ status }: { status?: string }): (pet: Pet) => boolean {
  return (pet) => status === undefined || pet.status === status;
}

function withLimit(link: string, limit: number): string {
  return link.replace(/(?<=limit=)\d+/, `${limit}`);
}

/** Expects that `pets` include all `known` pets, have descending ids and contain no duplicates. */
function expectOnce(pets: Pet[], known: Pet[]): void {
  const ids = pets.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => (one > other ? -1 : 1)));
  expect(pets).toEqual(expect.arrayContaining(known));
}
