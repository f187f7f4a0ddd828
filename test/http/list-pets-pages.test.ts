import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Pet } from '../../shared/contract/schemas.ts';
import { type Answer, baseAddress, linkTo, request } from '../support/client.ts';
import { expectError, expectSuccess } from '../support/expectations.ts';
import { addPet, addPets, idsOf, pages, untilListed, walk } from '../support/pets.ts';

describe('The pages of GET /v1/pets', () => {
  let oldest: Pet;
  let sold: Pet[];
  let available: Pet[];
  let plain: Pet[];

  beforeAll(async () => {
    oldest = await addPet({ status: 'sold' });
    sold = [oldest, ...(await addPets(6, { status: 'sold' }))];
    available = await addPets(7, { status: 'available' });
    plain = await addPets(7);
    await untilListed([...sold, ...available, ...plain]);
    await untilListed(sold, 'status=sold');
    await untilListed(available, 'status=available');
  });

  describe('the link to the next one', () => {
    test.each([
      ['neither', '', { limit: '20' }],
      ['a limit', '?limit=3', { limit: '3' }],
      ['a status', '?status=sold&limit=2', { limit: '2', status: 'sold' }],
    ])('repeats %s and adds nothing but a cursor', async (_case, query, repeated) => {
      const link = linkTo('next', await request(`/pets${query}`));
      expect(link).toMatch(`${baseAddress}/pets?`);
      expect(Object.fromEntries(new URL(link!).searchParams)).toEqual({
        ...repeated,
        cursor: expect.stringMatching(/^[\w-]+$/),
      });
    });

    test('is the only thing in its header', async () => {
      const { headers } = await request('/pets?limit=1');
      expect(headers.get('Link')).toMatch(/^<[^<>]+>; rel="next"$/);
    });

    test('does not carry along what was ignored', async () => {
      const { headers } = await request('/pets?limit=1&colour=red');
      expect(headers.get('Link')).not.toContain('colour');
    });

    test('is there while there is more, and only then', async () => {
      const [newest] = await pagesOf('/pets?status=sold&limit=1', 1);
      const second = linkTo('next', newest!)!;
      const rest = await pagesOf(withLimit(second, 100));
      const last = rest.at(-1)!;
      expect(rest.slice(0, -1).map(({ body }) => (body as Pet[]).length)).toEqual(
        rest.slice(0, -1).map(() => 100),
      );
      expect(last.body).not.toEqual([]);

      // What lies below a cursor does not change by what is added: the end can be approached exactly.
      const addressOfLast = rest.length > 1 ? linkTo('next', rest.at(-2)!)! : second;
      const left = (last.body as Pet[]).length;
      const exact = await request(withLimit(addressOfLast, left));
      expect(exact.body).toEqual(last.body);
      expect(exact.headers.get('Link')).toBeNull();
    });

    test('is there when a single pet is left', async () => {
      const [first] = await pagesOf('/pets?status=sold&limit=1', 1);
      let left = await pagesOf(withLimit(linkTo('next', first!)!, 100));
      let address = left.length > 1 ? linkTo('next', left.at(-2)!)! : linkTo('next', first!)!;
      const total = (left.at(-1)!.body as Pet[]).length;
      // A last page with a single pet needs no cut: the page before it had a link then.
      const cut = Math.max(total - 1, 1);
      address = withLimit(address, cut);
      left = await pagesOf(address);
      expect(left.map(({ body }) => (body as Pet[]).length)).toEqual(total > 1 ? [cut, 1] : [1]);
    });
  });

  describe('walked one after another', () => {
    test.each([1, 2, 3, 5, 7, 20, 100])('give every pet exactly once, with limit=%d', async (limit) => {
      const ids = idsOf(await walk(`/pets?limit=${limit}`, oldest.id));
      expectDescending(ids);
      expect(ids).toEqual(expect.arrayContaining(idsOf([...sold, ...available, ...plain])));
    });

    test.each([1, 2, 3, 7, 100])('give every pet of a status exactly once, with limit=%d', async (limit) => {
      const pets = await walk(`/pets?status=available&limit=${limit}`, oldest.id);
      expectDescending(idsOf(pets));
      expect(pets).toEqual(expect.arrayContaining(available));
      expect(pets.filter(({ status }) => status !== 'available')).toEqual([]);
    });

    test.each([
      ['all', 'limit=2', () => [...sold, ...available, ...plain], undefined],
      ['of a status', 'status=sold&limit=2', () => sold, 'sold' as const],
    ])('give every pet exactly once while others are added: %s', async (_case, query, known, status) => {
      const walked = new AbortController();
      async function keepAdding(): Promise<void> {
        while (!walked.signal.aborted) await addPet(status && { status });
      }
      async function walkOnce(): Promise<Pet[]> {
        try {
          return await walk(`/pets?${query}`, oldest.id);
        } finally {
          walked.abort();
        }
      }
      const [pets] = await Promise.all([walkOnce(), keepAdding(), keepAdding()]);
      expectDescending(idsOf(pets));
      expect(pets).toEqual(expect.arrayContaining(known()));
    });

    test('are the same when one is asked for again', async () => {
      const [first] = await pagesOf('/pets?limit=4', 1);
      const address = linkTo('next', first!)!;
      const [once, again] = [await request(address), await request(address)];
      expectSuccess(once, 200);
      expect(again.body).toEqual(once.body);
    });
  });

  describe('a cursor', () => {
    test.each(['', 'abc', '0', '1', '-1', 'null', 'MA', 'LTU', 'NS41', '%00', '%zz', '%ff'])(
      'that no link gave is refused: %p',
      async (cursor) => {
        expectBadCursor(await request(`/pets?cursor=${cursor}`));
      },
    );

    test.each([
      ['with padding', (cursor: string) => `${cursor}%3D`],
      ['with a character more', (cursor: string) => `${cursor}A`],
      ['with white space', (cursor: string) => `%20${cursor}`],
      ['a hundred times over', (cursor: string) => cursor.repeat(100)],
      ['twice in one', (cursor: string) => cursor + cursor],
    ])('from a link is refused %s', async (_case, change) => {
      const link = new URL(linkTo('next', await request('/pets?limit=1'))!);
      expectBadCursor(await request(`/pets?cursor=${change(link.searchParams.get('cursor')!)}`));
    });
  });
});

function expectBadCursor(answer: Answer): void {
  expectError(answer, 'invalid_request');
  expect(answer.body.message).toMatch(/^cursor must be [^;]*\.$/);
}

function expectDescending(ids: bigint[]): void {
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => (one > other ? -1 : 1)));
}

async function pagesOf(address: string, count = Infinity): Promise<Answer[]> {
  const found: Answer[] = [];
  for await (const page of pages(address)) {
    found.push(page);
    if (found.length === count) break;
  }
  return found;
}

function withLimit(address: string, limit: number): string {
  return address.replace(/limit=\d+/, `limit=${limit}`);
}
