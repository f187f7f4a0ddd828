import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { handler } from '../../functions/create-pet.ts';
import { createEvent } from '../support/api-gateway-event.ts';
import { oneEpoch } from '../support/list-epochs.ts';
import { invoke } from '../support/invoke.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { inputs, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({ PETS_TABLE: 'pets', IDEMPOTENCY_TABLE: 'records', LIST_PARTITIONS: oneEpoch(1) });

// Pets and idempotency records outlive a deployment, so the first test expects exactly these keys and hashes. If a later
// version stored different ones, filtered lists would lack pets, and a retry after its deployment could store a duplicate
// or get a 422.

const token = 'd744a8a89e9201765152741d6fd17a66626b9f8bd42a61e996143afa66270f64';
const keys = { partition: '0', statusPartition: 'available#0' };

function create(pet: object, authorizer: Record<string, string> = { keyId: 'key_1' }) {
  const requestContext = { authorizer };
  return invoke(handler, createEvent(pet, { headers: { 'Idempotency-Key': 'a-key' }, requestContext }));
}

test.each([
  ['a key', { keyId: 'key_1' }],
  ["a rotated key's successor", { keyId: 'key_3', firstKeyId: 'key_1' }],
])(
  'POST /v1/pets with %s stores the pet and its idempotency record with the attributes that later versions read',
  async (_key, authorizer) => {
    mock.on(PutCommand).resolves({});
    const { body } = await create({ name: 'Rex', categoryId: 7, status: 'available' }, authorizer);
    const id = body.id;
    // If pets get another field, `fields` gets another entry, which does not affect the comparison of these entries.
    const fields = expect.objectContaining({
      name: 'r2KaV499qpZrzbGJ',
      categoryId: 'eQJpm-Qsio5G-7tF',
      status: 'i3CSzEsFPYj9-33w',
    });
    expect(inputs().map(({ TableName, Item }) => [TableName, Item])).toEqual([
      ['records', { token, fields, petId: id, expiresAt: expect.any(Number) }],
      ['pets', { id, name: 'Rex', categoryId: 7n, status: 'available', creation: token, ...keys }],
    ]);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
  },
);
