import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { madeUpPet } from '../../../../infra/operate/seed/pets.ts';
import { NewPet } from '../../../../shared/contract/schemas.ts';

const SEED = 7;
const pets = Array.from({ length: 2_000 }, (_, index) => madeUpPet(SEED, index));

describe('made-up pets', () => {
  test('are valid', () => {
    expect(pets.map((pet) => v.parse(NewPet, pet))).toEqual(pets);
  });

  test('depend only on the seed and the index', () => {
    expect([1_500, 3].map((index) => madeUpPet(SEED, index))).toEqual([pets[1_500], pets[3]]);
  });

  test('differ for another seed', () => {
    expect(pets.slice(0, 20).map((_, index) => madeUpPet(SEED + 1, index))).not.toEqual(pets.slice(0, 20));
  });
});
