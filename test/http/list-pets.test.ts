import { describe, expect, test } from '@jest/globals';
import { pets } from '../collections/pets.ts';
import { expectError, post, request } from '../support/client.ts';
import { listAddress, untilListed } from '../support/items.ts';

describe('GET /pets', () => {
  test.each(['', 'lost', 'AVAILABLE', '%20sold', '%zz', '%00', 'sold,sold', 'sold&status=sold'])(
    'rejects the status %p',
    async (status) => {
      const message = 'status must be "available", "pending" or "sold", or omitted.';
      expectError(await request(`/pets?status=${status}`), 400, 'invalid_request', message);
    },
  );

  test('lists all invalid parameters in one message', async () => {
    const message = expect.stringMatching(/^limit must be .*; status must be .*\.$/);
    expectError(await request('/pets?limit=0&status=lost'), 400, 'invalid_request', message);
  });

  test.each([{}, { status: 'sold' }])('returns names and integers unchanged (%p)', async (filter) => {
    const name = '🐕 "Rex" \\u0041 \0\t';
    const created = await post('/pets', { name, categoryId: 9007199254740993n, status: 'sold' });
    await untilListed(pets, [created.body], filter);
    const page = await request(listAddress('/pets', { ...filter, limit: 100 }));
    expect(page.text).toContain(created.text);
  });
});
