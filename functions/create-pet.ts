import { endpoint, prime } from '../shared/runtime/endpoint.ts';
import { pets } from '../shared/contract/pets.ts';
import { create, get } from '../shared/storage/collection.ts';
import { intentOf } from '../shared/storage/idempotency.ts';
import { createdMetric } from '../shared/names.ts';
import { primeCount } from '../shared/telemetry.ts';

const operation = pets.operations.create;

export const handler = endpoint(operation, async (request) => {
  const { body, rootUrl, signal } = request;
  const pet = await create(pets, body, signal, intentOf(operation.id, request));
  return { body: pet, headers: { Location: `${rootUrl}${pets.path}/${pet.id}` } };
});

// The sample request only reads, because a successful write would add a pet, and a write whose condition fails would
// count in DynamoDB's metric of failed conditions.
const sample = { body: '{"name":"Rex","categoryId":1,"status":"available"}' };
await prime(operation, sample, async ({ body, signal }) => {
  await Promise.all([get(pets, 0n, signal), Promise.try(primeCount, createdMetric(pets))]);
  return { body: { id: 0n, ...body } };
});
