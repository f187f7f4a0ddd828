import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/create-pet.ts';
import { createEvent } from '../support/api-gateway-event.ts';
import { oneEpoch } from '../support/list-epochs.ts';
import { invoke } from '../support/invoke.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({ PETS_TABLE: 'pets', IDEMPOTENCY_TABLE: 'records', LIST_PARTITIONS: oneEpoch(1) });

// Pets and idempotency records outlive a deployment, so the first test expects exactly these keys and hashes. If a later
// version stored different ones, filtered lists would lack pets, and a retry after its deployment could store a duplicate
// or get a 422.

const token = 'd744a8a89e9201765152741d6fd17a66626b9f8bd42a61e996143afa66270f64';
const fingerprint = 'fe381d8b22a9e05931be3c554d3244e036583fe9d4ba7c810b30d168c0f09fbe';
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
      ['records', { token, fields, fingerprint, petId: id, expiresAt: expect.any(Number) }],
      ['pets', { id, name: 'Rex', categoryId: 7n, status: 'available', creation: token, ...keys }],
    ]);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
  },
);

describe('POST /v1/pets after a version that stored no hashes of fields', () => {
  const expiresAt = BigInt(Math.floor(Date.now() / 1_000) + 3_600);
  const record = { token, fingerprint, petId: 244141843387957n, expiresAt };
  const pet = {
    id: 244141843387957n,
    name: 'Rex',
    categoryId: 7n,
    status: 'available',
    creation: token,
    ...keys,
  };

  test('responds to a retry as that version did', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolvesOnce({ Item: record }).resolvesOnce({ Item: pet });
    const { status, headers, text } = await create({ status: 'available', name: 'Rex', categoryId: 7 });
    expect([status, text]).toEqual([
      201,
      '{"id":244141843387957,"name":"Rex","categoryId":7,"status":"available"}',
    ]);
    expect(headers['Location']).toMatch(/\/v1\/pets\/244141843387957$/);
  });

  test('completes a request that was interrupted before it stored the pet', async () => {
    mock.on(PutCommand).rejectsOnce(conditionFailed).resolves({});
    mock.on(GetCommand).resolvesOnce({ Item: record });
    const { status } = await create({ name: 'Rex', categoryId: 7, status: 'available' });
    expect(status).toBe(201);
    expect(inputs().at(-1)).toMatchObject({ TableName: 'pets', Item: pet });
  });

  test.each([
    { name: 'Mia', categoryId: 7, status: 'available' },
    { name: 'Rex', categoryId: 7 },
  ])('responds with a 422 to a request with the same key and the pet %j', async (other) => {
    mock.on(PutCommand).rejects(conditionFailed);
    mock.on(GetCommand).resolvesOnce({ Item: record });
    const { status, body } = await create(other);
    expect([status, body.code]).toEqual([422, 'idempotency_key_reused']);
  });
});
