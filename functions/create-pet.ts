import { endpoint } from '../shared/endpoint.ts';
import { tokenOf } from '../shared/intents.ts';
import { operations } from '../shared/operations.ts';
import { createPet, createPetOnce } from '../shared/pets.ts';

const { id: operation, path } = operations.createPet;

export const handler = endpoint(operations.createPet, async ({ headers, body, rootAddress, keyId }) => {
  const idempotencyKey = headers['Idempotency-Key'];
  const pet = idempotencyKey
    ? await createPetOnce(body, tokenOf(keyId, operation, idempotencyKey))
    : await createPet(body);
  return { body: pet, headers: { Location: `${rootAddress}${path}/${pet.id}` } };
});
