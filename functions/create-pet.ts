import { endpoint, prime } from '../shared/runtime/endpoint.ts';
import { operations } from '../shared/contract/operations.ts';
import { tokenOf } from '../shared/storage/idempotency.ts';
import { create, get } from '../shared/storage/collection.ts';
import { pets } from '../shared/storage/pets.ts';
import { primeCount } from '../shared/telemetry.ts';

export const handler = endpoint(operations.createPet, async ({ headers, body, rootUrl, keyId, fail }) => {
  const idempotencyKey = headers['Idempotency-Key'];
  const token = idempotencyKey && tokenOf(operations.createPet.id, keyId, idempotencyKey);
  const pet = (await create(pets, body, token)) ?? fail('idempotency_key_reused');
  return { body: pet, headers: { Location: `${rootUrl}${operations.createPet.path}/${pet.id}` } };
});

// The sample request only reads. A successful write would add a pet. A write whose condition fails would appear in
// DynamoDB's metrics.
const sample = { body: '{"name":"Rex","categoryId":1,"status":"available"}' };
await prime(operations.createPet, sample, async ({ body }) => {
  await Promise.all([get(pets, 0n), Promise.try(primeCount, pets.created)]);
  return { body: { id: 0n, ...body } };
});
