import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { handler } from '../../functions/create-pet.ts';
import { createEvent } from '../support/api-gateway-event.ts';
import { invoke } from '../support/invoke.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({ PETS_TABLE: 'pets', IDEMPOTENCY_TABLE: 'records' });

// Pets and idempotency records outlive a deployment, so the first test expects exactly these keys and hashes. If a later
// version stored different ones, lists would lack pets, and a retry after its deployment could store a duplicate or get a
// 422.

const token = 'd744a8a89e9201765152741d6fd17a66626b9f8bd42a61e996143afa66270f64';
/** The first body, and its SHA-256. */
const rex = '{"name":"Rex","categoryId":7,"status":"available"}';
const fingerprint = 'a502a3f0713a02e8ec0f210c03e83cdc8f6f6943506699cdc08151d5061d00d3';

function create(body: string, authorizer: Record<string, string> = { firstKeyId: 'key_1' }) {
  const requestContext = { authorizer };
  return invoke(handler, createEvent(body, { headers: { 'Idempotency-Key': 'a-key' }, requestContext }));
}

test('stores the pet and its idempotency record with the attributes that later versions read', async () => {
  mock.on(PutCommand).resolves({});
  const { body } = await create(rex);
  const { id } = body;
  expect(inputs().map(({ TableName, Item }) => [TableName, Item])).toEqual([
    ['records', { token, fingerprint, itemId: id, expiresAt: expect.any(Number) }],
    ['pets', { id, name: 'Rex', categoryId: 7n, status: 'available', creation: token, list: 'all' }],
  ]);
  expect(occurrences()).toEqual([counted('PetsCreated')]);
});

test('returns the stored pet to a retry, and a 422 to a request whose body differs in one byte', async () => {
  mock.on(PutCommand).rejects(conditionFailed);
  const stored = { id: 42n, name: 'Rex', categoryId: 7n, status: 'available', creation: token, list: 'all' };
  mock.on(GetCommand, { TableName: 'records' }).resolves({ Item: { token, fingerprint, itemId: 42n } });
  mock.on(GetCommand, { TableName: 'pets' }).resolves({ Item: stored });
  expect(await create(rex)).toMatchObject({ status: 201, text: rex.replace('{', '{"id":42,') });
  expect(await create(`${rex} `)).toMatchObject({
    status: 422,
    body: {
      code: 'idempotency_key_reused',
      message:
        'This Idempotency-Key was already used with a different body. To retry, send the first body unchanged. For another request, use a new key.',
    },
  });
});

test('returns the same fingerprint for a body that API Gateway passes as Base64', async () => {
  mock.on(PutCommand).resolves({});
  const headers = { 'Idempotency-Key': 'a-key' };
  const requestContext = { authorizer: { firstKeyId: 'key_1' } };
  const body = Buffer.from(rex).toString('base64');
  await invoke(handler, createEvent(body, { headers, requestContext, isBase64Encoded: true }));
  expect(inputs()[0]).toMatchObject({ Item: { fingerprint } });
});

test('replaces each id that another pet has taken, so that the key can be used again', async () => {
  const other = { name: 'Mia', categoryId: 7n, creation: 'another request' };
  mock.on(PutCommand, { TableName: 'records' }).resolves({});
  mock
    .on(PutCommand, { TableName: 'pets' })
    .rejectsOnce(conditionFailed)
    .rejectsOnce(conditionFailed)
    .resolves({});
  mock.on(GetCommand, { TableName: 'pets' }).callsFake(({ Key }) => ({ Item: { ...other, ...Key } }));
  const { status, body } = await create(rex);
  const claims = inputs().filter(({ TableName, Item }) => TableName === 'records' && Item);
  const ids = claims.map(({ Item }) => Item.itemId);
  expect([status, body.id]).toEqual([201, ids[2]]);
  expect(claims.map((claim) => claim.ExpressionAttributeValues[':taken'])).toEqual([0n, ids[0], ids[1]]);
});

test('returns a 403 for a key that can only read, before the pet is validated', async () => {
  const response = await create('{', { firstKeyId: 'key_1', canWrite: '' });
  expect(response).toMatchObject({
    status: 403,
    body: { code: 'forbidden', message: 'This API key can only read. Use a key that can also write.' },
  });
  expect(inputs()).toEqual([]);
});
