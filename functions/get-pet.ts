import { endpoint, prime } from '../shared/runtime/endpoint.ts';
import { notFoundMessage } from '../shared/contract/errors.ts';
import { pets } from '../shared/contract/pets.ts';
import { get } from '../shared/storage/collection.ts';

export const handler = endpoint(pets.operations.get, async ({ path: { petId }, signal, fail }) => {
  return { body: (await get(pets, petId, signal)) ?? fail('not_found', notFoundMessage(pets, petId)) };
});

await prime(pets.operations.get, { pathParameters: { petId: '0' } }, async ({ path, signal }) => {
  await get(pets, path.petId, signal);
  return { body: { id: path.petId, name: 'Rex', categoryId: 1n } };
});
