import { endpoint } from '../shared/runtime/endpoint.ts';
import { tokenOf } from '../shared/storage/intents.ts';
import { operations } from '../shared/contract/operations.ts';
import { createPet, createPetOnce, getPet } from '../shared/storage/pets.ts';
import { metrics } from '../shared/names.ts';
import { primeCount } from '../shared/telemetry.ts';
import { prime } from '../shared/runtime/priming.ts';

const { id: operation, path } = operations.createPet;

export const handler = endpoint(operations.createPet, async ({ headers, body, rootUrl, keyId }) => {
  const idempotencyKey = headers['Idempotency-Key'];
  const pet = idempotencyKey
    ? await createPetOnce(body, tokenOf(keyId, operation, idempotencyKey))
    : await createPet(body);
  return { body: pet, headers: { Location: `${rootUrl}${path}/${pet.id}` } };
});

// The sample request only reads, because a write would add a pet and a failed condition check would appear in metrics.
const sample = { body: '{"name":"Rex","categoryId":1,"status":"available"}' };
await prime(operations.createPet, sample, async ({ body }) => {
  await Promise.all([getPet(0n), Promise.try(primeCount, metrics.petsCreated)]);
  return { body: { id: 0n, ...body } };
});
