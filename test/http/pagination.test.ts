import { describe, expect, test } from '@jest/globals';
import { nextLink, request } from './client.ts';
import { addPet, addPets, listAddress, type StoredPet, untilListed, walk } from './lists.ts';

// Other test files add pets to the same lists, so these tests only expect to find the pets below, and walk down to the oldest.
const [oldest] = await addPets(1);
const recent = [...(await addPets(3, { status: 'available' })), ...(await addPets(3, { status: 'sold' }))];
await untilListed(recent);
const sold = recent.filter(({ status }) => status === 'sold');
await untilListed(sold, { status: 'sold' });

const lists: [query: Record<string, string>, expected: StoredPet[]][] = [
  [{}, recent],
  [{ status: 'sold' }, sold],
];

/** Expects that the pets of a walk, whose ids descend, include all `known` pets. */
function expectAll(pets: StoredPet[], known: StoredPet[]): void {
  expect(pets).toEqual(expect.arrayContaining(known));
}

describe('the pages of GET /pets', () => {
  test.each([1, 2, 5, 100])('contain every pet once if the limit is %d', async (limit) => {
    expectAll(await walk(listAddress({ limit }), oldest!.id), recent);
  });

  test('contain every pet with a status once', async () => {
    const pets = await walk(listAddress({ limit: 2, status: 'sold' }), oldest!.id);
    expectAll(pets, sold);
    expect(new Set(pets.map(({ status }) => status))).toEqual(new Set(['sold']));
  });

  test.each(lists)('contain every pet once while pets are added (%j)', async (query, expected) => {
    const walked = new AbortController();
    async function keepAdding(): Promise<void> {
      while (!walked.signal.aborted) await addPet({ status: 'sold' });
    }
    const walking = walk(listAddress({ ...query, limit: 2 }), oldest!.id).finally(() => walked.abort());
    const [pets] = await Promise.all([walking, keepAdding(), keepAdding()]);
    expectAll(pets, expected);
  });

  test('end with the oldest pet, whether the last page is full or not', async () => {
    // The walks start at a cursor, because other tests add pets to the first page.
    const first = nextLink(await request('/pets?limit=1&status=sold'))!;
    const all = await walk(first.replace(/limit=\d+/, 'limit=100'), 0n);
    for (const limit of [1, 2, 100]) {
      const skipped = all.length > 4 ? all.at(-4)! : all[0]!;
      const cursor = positionAfter(skipped.id);
      const rest = await walk(listAddress({ status: 'sold', limit, cursor }), 0n);
      expect(rest).toEqual(all.filter(({ id }) => id < skipped.id));
    }
  });

  test('have cursors that are positions in every list', async () => {
    for (const [query, expected] of lists) {
      const cursor = positionAfter(recent.at(-1)!.id);
      const pets = await walk(listAddress({ ...query, limit: 100, cursor }), oldest!.id);
      expectAll(
        pets,
        expected.filter(({ id }) => id < recent.at(-1)!.id),
      );
    }
  });
});

/** Returns the cursor of the page after the pet with this id, which is opaque to clients. */
function positionAfter(id: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(id);
  return bytes.toString('base64url');
}
