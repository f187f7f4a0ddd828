import { endpoint, prime } from '../shared/runtime/endpoint.ts';
import { operations } from '../shared/contract/operations.ts';
import { get } from '../shared/storage/collection.ts';
import { pets } from '../shared/storage/pets.ts';

export const handler = endpoint(operations.getPet, async ({ path, fail }) => {
  const pet = await get(pets, path.petId);
  return { body: pet ?? fail('not_found', `No pet has the id ${path.petId}.`) };
});

await prime(operations.getPet, { pathParameters: { petId: '0' } }, async ({ path }) => {
  await get(pets, path.petId);
  return { body: { id: path.petId, name: 'Rex', categoryId: 1n } };
});
