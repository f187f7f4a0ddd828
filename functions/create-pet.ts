import { endpoint } from '../shared/endpoint.ts';
import { tokenOf } from '../shared/intents.ts';
import { operations } from '../shared/operations.ts';
import { createPet, createPetOnce, getPet } from '../shared/pets.ts';
import { rehearse } from '../shared/rehearsal.ts';

const { id: operation, path } = operations.createPet;

export const handler = endpoint(operations.createPet, async ({ headers, body, rootAddress, keyId }) => {
  const idempotencyKey = headers['Idempotency-Key'];
  const pet = idempotencyKey
    ? await createPetOnce(body, tokenOf(keyId, operation, idempotencyKey))
    : await createPet(body);
  return { body: pet, headers: { Location: `${rootAddress}${path}/${pet.id}` } };
});

// A write would be a pet, or a failed condition that operators see: a read opens the same connection.
const sample = { body: '{"name":"Rex","categoryId":1,"status":"available"}' };
await rehearse(operations.createPet, sample, () => getPet(0n));
