import { faker } from '@faker-js/faker/locale/en';
import { type NewPet, PetStatus } from '../../../shared/contract/schemas.ts';

const namesBeyondAscii = ['Zoë', 'Bjørn', 'Łatka', 'Σπίθα', 'Мурка', 'مشمش', 'たま', '小白', 'Rex 🐕'];

/** Returns the pet that `seed` and `index` determine. Some pets contain values that clients often corrupt. */
export function generatePet(seed: number, index: number): NewPet {
  faker.seed([seed, index]);
  const { animal, helpers, number } = faker;
  const status = helpers.arrayElement([...PetStatus.options, undefined]);
  const oddName = helpers.maybe(() => helpers.arrayElement(namesBeyondAscii), { probability: 0.05 });
  const isHuge = number.float() < 0.01;
  return {
    name: oddName ?? `${animal.petName()} the ${animal.type()}`,
    categoryId: number.bigInt(isHuge ? { min: 2n ** 53n + 1n, max: 2n ** 63n - 1n } : { min: 1, max: 9 }),
    ...(status && { status }),
  };
}
