import { describe, expect, test } from '@jest/globals';
import { postPet, request } from '../support/client.ts';

describe('GET /v1/pets', () => {
  test('lists the newest pet first', async () => {
    const { body: pet } = await postPet({ name: 'Rex', categoryId: 1 });
    const { status, body } = await request('/pets?limit=1');
    expect(status).toBe(200);
    expect(body).toEqual([pet]);
  });
});
