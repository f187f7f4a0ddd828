import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { madeUpPet } from '../../../../infra/operate/seed/pets.ts';
import { NewPet } from '../../../../shared/contract/schemas.ts';

const SEED = 7;
const pets = Array.from({ length: 2_000 }, (_, index) => madeUpPet(SEED, index));

describe('made-up pets', () => {
  test('are pets that the service takes as they are', () => {
    expect(pets.map((pet) => v.parse(NewPet, pet))).toEqual(pets);
  });

  test('are the same again for a seed and a number, whatever was made up before', () => {
    expect([1_500, 3].map((index) => madeUpPet(SEED, index))).toEqual([pets[1_500], pets[3]]);
  });

  test('are others for another seed', () => {
    expect(pets.slice(0, 20).map((_, index) => madeUpPet(SEED + 1, index))).not.toEqual(pets.slice(0, 20));
  });

  test('have each status, most of them available, or none', () => {
    const counts = new Map<unknown, number>();
    for (const { status } of pets) counts.set(status, (counts.get(status) ?? 0) + 1);
    const byCount = [...counts].toSorted(([, one], [, other]) => other - one);
    expect(byCount.map(([status]) => status)).toEqual(['available', 'sold', 'pending', undefined]);
    expect(pets.every((pet) => pet.status !== undefined || !('status' in pet))).toBe(true);
  });

  test('have now and then a name beyond ASCII, and a category that a double cannot hold', () => {
    const share = (isSo: (pet: NewPet) => boolean) => pets.filter(isSo).length / pets.length;
    expect(share(({ name }) => /\P{ASCII}/u.test(name))).toBeCloseTo(0.05, 1);
    const inexact = pets.filter(({ categoryId }) => BigInt(Number(categoryId)) !== categoryId);
    expect(inexact.length).toBeGreaterThan(5);
    expect(share(({ categoryId }) => categoryId <= 10n)).toBeGreaterThan(0.95);
  });
});
