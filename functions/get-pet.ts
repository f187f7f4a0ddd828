import { endpoint, prime } from '../shared/runtime/endpoint.ts';
import { ApiError } from '../shared/contract/errors.ts';
import { operations } from '../shared/contract/operations.ts';
import { getPet } from '../shared/storage/pets.ts';

export const handler = endpoint(operations.getPet, async ({ path }) => {
  const pet = await getPet(path.petId);
  if (!pet) throw new ApiError('not_found', `No pet has the id ${path.petId}.`);
  return { body: pet };
});

await prime(operations.getPet, { pathParameters: { petId: '0' } }, async ({ path }) => {
  await getPet(path.petId);
  return { body: { id: path.petId, name: 'Rex', categoryId: 1n } };
});
