import { endpoint } from '../shared/endpoint.ts';
import { operations } from '../shared/operations.ts';
import { createPet } from '../shared/pets.ts';

export const handler = endpoint(operations.createPet, async ({ body, rootAddress }) => {
  const pet = await createPet(body);
  return { body: pet, headers: { Location: `${rootAddress}${operations.createPet.path}/${pet.id}` } };
});
