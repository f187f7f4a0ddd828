import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { handler } from '../../functions/create-pet.ts';
import { createEvent } from '../support/api-gateway-event.ts';
import { oneEpoch } from '../support/list-epochs.ts';
import { invoke } from '../support/invoke.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { inputs, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({ PETS_TABLE: 'pets', IDEMPOTENCY_TABLE: 'records', LIST_PARTITIONS: oneEpoch(1) });

// Pets and idempotency records outlive a deployment. If a version stored other values, filtered lists would lack pets, and
// a retry after its deployment would store a duplicate.
test('POST /v1/pets stores the same attributes of a pet and its idempotency record in all versions', async () => {
  mock.on(PutCommand).resolves({});
  const pet = { name: 'Rex', categoryId: 7, status: 'available' };
  const requestContext = { authorizer: { keyId: 'key_1' } };
  const event = createEvent(pet, { headers: { 'Idempotency-Key': 'a-key' }, requestContext });
  const { body } = await invoke(handler, event);
  const id = body.id;
  const token = 'd744a8a89e9201765152741d6fd17a66626b9f8bd42a61e996143afa66270f64';
  const fingerprint = 'fe381d8b22a9e05931be3c554d3244e036583fe9d4ba7c810b30d168c0f09fbe';
  const keys = { partition: '0', statusPartition: 'available#0' };
  expect(inputs().map(({ TableName, Item }) => [TableName, Item])).toEqual([
    ['records', { token, fingerprint, petId: id, expiresAt: expect.any(Number) }],
    ['pets', { id, name: 'Rex', categoryId: 7n, status: 'available', creation: token, ...keys }],
  ]);
  expect(occurrences()).toEqual([counted('PetsCreated')]);
});
