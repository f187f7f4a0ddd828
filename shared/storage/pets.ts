import { Pet, petList } from '../contract/pets.ts';
import { metrics } from '../names.ts';
import type { Collection } from './collection.ts';

export const pets: Collection<Pet> = {
  singular: 'pet',
  list: petList,
  fields: Object.keys(Pet.entries) as (keyof Pet)[],
  table: 'petsTable',
  created: metrics.petsCreated,
};
