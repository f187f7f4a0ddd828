import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import { linkTo, request } from '../support/client.ts';
import { expectError, expectSuccess } from '../support/expectations.ts';
import { addPet, addPets, idsOf, oldestOf, untilListed, walk } from '../support/pets.ts';

const PET_STATUSES: PetStatus[] = ['available', 'pending', 'sold'];

describe('GET /v1/pets', () => {
  let added: Pet[];

  beforeAll(async () => {
    // More than a page can hold, so that only `limit` can end one.
    added = await addPets(101);
    await untilListed(added);
  });

  test('is a bare array of pets', async () => {
    const answer = await request('/pets');
    expectSuccess(answer, 200);
    expect(Array.isArray(answer.body)).toBe(true);
    expect(answer.body).toContainEqual(
      expect.objectContaining({
        id: expect.any(BigInt),
        name: expect.any(String),
        categoryId: expect.any(BigInt),
      }),
    );
  });

  test('gives each pet as it was answered when it was added', async () => {
    const pets = await walk('/pets?limit=100', oldestOf(added));
    expect(pets).toEqual(expect.arrayContaining(added));
  });

  test('gives the newest pets first', async () => {
    const older = await addPet();
    const newer = await addPet();
    await untilListed([older, newer]);
    const { body } = await request('/pets?limit=100');
    const ids = idsOf(body as Pet[]);
    expect(ids).toEqual(ids.toSorted((one, other) => (one > other ? -1 : 1)));
    expect(ids.indexOf(newer.id)).toBeLessThan(ids.indexOf(older.id));
  });

  describe('limit', () => {
    test.each([
      ['20 when none is given', '', 20],
      ['1, the smallest', '?limit=1', 1],
      ['21, above the default', '?limit=21', 21],
      ['99', '?limit=99', 99],
      ['100, the largest', '?limit=100', 100],
    ])('bounds the number of pets: %s', async (_case, query, limit) => {
      const answer = await request(`/pets${query}`);
      expectSuccess(answer, 200);
      expect(answer.body).toHaveLength(limit);
      expect(linkTo('next', answer)).toContain(`limit=${limit}&`);
    });

    test.each([
      '0',
      '-0',
      '-1',
      '101',
      '1000',
      '99999999999999999999',
      '1.5',
      '5.0',
      '05',
      '+5',
      '%2B5',
      '1e1',
      '0x10',
      'abc',
      'null',
      '',
      '%20',
      '5%20',
      '5%0A',
      '5%00',
      '5,6',
      '%EF%BC%95',
      '%zz',
      '%',
      '%ff',
    ])('is refused unless it is an integer from 1 to 100: limit=%p', async (limit) => {
      const answer = await request(`/pets?limit=${limit}`);
      expectError(answer, 'invalid_request');
      expect(answer.body.message).toBe('limit must be an integer from 1 to 100, given once.');
    });
  });

  describe('status', () => {
    let one: Record<PetStatus | 'none', Pet>;

    beforeAll(async () => {
      const [available, pending, sold] = [
        await addPet({ status: 'available' }),
        await addPet({ status: 'pending' }),
        await addPet({ status: 'sold' }),
      ];
      one = { available, pending, sold, none: await addPet() };
      await untilListed(Object.values(one));
    });

    test.each(PET_STATUSES)('lists only the pets with the status %s', async (status) => {
      await untilListed([one[status]], `status=${status}`);
      const pets = await walk(`/pets?status=${status}`, one.available.id);
      expect(pets).toContainEqual(one[status]);
      expect(pets.filter((pet) => pet.status !== status)).toEqual([]);
    });

    test('left out lists pets of every status and of none', async () => {
      expect(await walk('/pets?limit=100', one.available.id)).toEqual(
        expect.arrayContaining(Object.values(one)),
      );
    });

    test.each([
      'unknown',
      'Available',
      'SOLD',
      '',
      '%20sold',
      'sold%20',
      'available,sold',
      'null',
      'sold%230',
      'constructor',
      '__proto__',
      '%zz',
      '%ff',
      '%00',
    ])('is refused unless it is one of the three: status=%p', async (status) => {
      const answer = await request(`/pets?status=${status}`);
      expectError(answer, 'invalid_request');
      expect(answer.body.message).toBe('status must be one of available, pending, sold, given once.');
    });
  });

  describe('its other parameters', () => {
    test.each([
      'limit=5&limit=5',
      'status=sold&status=sold',
      'status=sold&status=unknown',
      'cursor=a&cursor=a',
    ])('may not be repeated: %s', async (query) => {
      const answer = await request(`/pets?${query}`);
      expectError(answer, 'invalid_request');
      expect(answer.body.message).toMatch(
        new RegExp(`^${query.slice(0, query.indexOf('='))} must be [^;]*, given once\\.$`),
      );
    });

    test('are all named when several are wrong', async () => {
      const answer = await request('/pets?limit=0&status=lost&cursor=x');
      expectError(answer, 'invalid_request');
      expect(answer.body.message).toMatch(/^limit must .*; status must .*; cursor must .*\.$/);
    });

    test.each([
      'colour=red',
      'colour=red&colour=blue',
      'LIMIT=0',
      'Status=lost',
      'limit[]=0',
      'offset=-1',
      '__proto__=1',
      'constructor=1',
      'colour=%zz',
      'colour=%ff',
      '%zz=1',
      '%=%',
      '=',
      '&&',
      '',
    ])('are ignored when unknown: %p', async (query) => {
      const answer = await request(`/pets?limit=3&${query}`);
      expectSuccess(answer, 200);
      expect(answer.body).toHaveLength(3);
    });

    test('are understood percent-encoded', async () => {
      const answer = await request('/pets?%6Cimit=%33&status=s%6Fld');
      expectSuccess(answer, 200);
      expect((answer.body as Pet[]).filter(({ status }) => status !== 'sold')).toEqual([]);
      expect(answer.body.length).toBeLessThanOrEqual(3);
    });
  });
});
