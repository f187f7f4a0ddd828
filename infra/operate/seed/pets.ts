import { faker } from '@faker-js/faker/locale/en';
import type { NewPet } from '../../../shared/contract/schemas.ts';

// The pets of `npm run seed`: like those of a store, and a few that a careless client would corrupt.

const namesBeyondAscii = ['Zoë', 'Bjørn', 'Łatka', 'Σπίθα', 'Мурка', 'مشمش', 'たま', '小白', 'Rex 🐕'];

/** Weighted by how common they are in a store. */
const categories = [30, 28, 10, 9, 8, 5, 4, 3, 2].map((weight, index) => ({
  weight,
  value: BigInt(index + 1),
}));
const statuses = [
  { weight: 60, value: 'available' },
  { weight: 24, value: 'sold' },
  { weight: 10, value: 'pending' },
  { weight: 6, value: undefined },
] as const;

/** The pet with this index of a seed, always the same. */
export function madeUpPet(seed: number, index: number): NewPet {
  faker.seed([seed, index]);
  const status = faker.helpers.weightedArrayElement(statuses);
  const name = faker.helpers.weightedArrayElement([
    { weight: 60, value: () => faker.animal.petName() },
    { weight: 35, value: () => `${faker.animal.petName()} the ${faker.animal.type()}` },
    { weight: 5, value: () => faker.helpers.arrayElement(namesBeyondAscii) },
  ]);
  const categoryId = faker.helpers.weightedArrayElement([
    { weight: 99, value: () => faker.helpers.weightedArrayElement(categories) },
    { weight: 1, value: () => faker.number.bigInt({ min: 2n ** 53n + 1n, max: 2n ** 63n - 1n }) },
  ]);
  return { name: name(), categoryId: categoryId(), ...(status && { status }) };
}
