import { describe, expect, test } from '@jest/globals';
import { expectError, expectSuccess, nextLink, post, publicBaseUrl, request } from './client.ts';
import { newPet } from '../support/pets.ts';
import { addPet, addPets, listAddress, type StoredPet, untilListed, walk } from './lists.ts';

describe('GET /pets', () => {
  test('returns a page with 20 pets, or as many as the limit says, and the link to the next page', async () => {
    // There are more pets than a page has, so that only `limit` determines the length of a page.
    await untilListed(await addPets(21));
    for (const [end, length] of [
      ['', 20],
      ['?limit=1', 1],
      ['?%6Cimit=%33', 3],
    ]) {
      const response = await request(`/pets${end}`);
      if (response.isRejectedByAws) continue;
      expectSuccess(response, 200);
      expect([end, response.body.length]).toEqual([end, length]);
      const link = nextLink(response)!;
      expect(link.replace(/[\w-]{11}$/, '')).toBe(`${publicBaseUrl}/pets?limit=${length}&cursor=`);
    }
  });

  test('with a status omits pets with another status and without one', async () => {
    const others: StoredPet[] = [];
    for (const status of ['available', 'pending', undefined]) others.push(await addPet({ status }));
    const sold = await addPet({ status: 'sold' });
    await untilListed([...others, sold]);
    await untilListed([sold], { status: 'sold' });
    const listed = await walk(listAddress({ status: 'sold', limit: 100 }), others[0]!.id);
    expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['sold']));
  });

  test.each([{}, { status: 'sold' }])(
    'with the query %j returns a pet exactly as createPet did',
    async (filter) => {
      const pet = newPet('🐕 "Rex" \\u0041 \0\t', { categoryId: 9007199254740993n, status: 'sold' });
      const created = await post('/pets', pet);
      await untilListed([created.body], filter);
      expect((await request(listAddress({ ...filter, limit: 100 }))).text).toContain(created.text);
    },
  );

  // Some HTTP libraries send a filter in a different spelling. If the service ignored it, the list would be wrong.
  test('with an invalid or unknown parameter returns a 400', async () => {
    const queries = [
      'limit=',
      'limit=0',
      'limit=101',
      'limit=%205',
      'limit=%zz',
      'limit=%00',
      'limit=5,5',
      'limit=5&limit=5',
      'status=',
      'status=lost',
      'status=%20sold',
      'status=%zz',
      'status=sold,sold',
      'status=sold&status=sold',
      'limit[]=5',
      'LIMIT=5',
      'unknown=%zz',
      '=',
      'limit=5&offset=0',
    ];
    for (const query of queries) expectError(await request(`/pets?${query}`), 400, 'invalid_request');
  });

  test('with a cursor that is not the cursor of a page returns a 400', async () => {
    const cursor = nextLink(await request('/pets?limit=1'))!.replace(/.*cursor=/, '');
    const wrong = ['', 'x', '%205', '%zz', '%00', 'x&cursor=x', 'AAAAAAAAAAA', cursor.slice(0, -1)];
    for (const value of [...wrong, `${cursor}A`, `${cursor}%3D`]) {
      // openapi.json describes only the length of cursors, so the service may reject requests that openapi.json allows.
      const response = await request(`/pets?cursor=${value}`, { mayBeRejected: true });
      expectError(response, 400, 'invalid_request', expect.stringMatching(/^cursor must be/));
    }
  });
});
