import { endpoint } from '../shared/endpoint.ts';
import { metrics } from '../shared/environment.ts';
import { operations } from '../shared/operations.ts';
import { createPet } from '../shared/pets.ts';
import { count } from '../shared/telemetry.ts';

export const handler = endpoint(operations.createPet, async ({ body, rootAddress }) => {
  const pet = await createPet(body);
  count(metrics.petsCreated, {});
  return { body: pet, headers: { Location: `${rootAddress}${operations.createPet.path}/${pet.id}` } };
});
