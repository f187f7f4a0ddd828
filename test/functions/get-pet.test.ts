import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { handler } from '../../functions/get-pet.ts';
import { apiGatewayEvent } from '../support/api-gateway-event.ts';
import { type ApiResponse, invoke } from '../support/invoke.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { inputs, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({ PETS_TABLE: 'pets' });

function get(petId: string): Promise<ApiResponse> {
  return invoke(handler, apiGatewayEvent({ path: `/v1/pets/${petId}`, pathParameters: { petId } }));
}

/** Headers that announce the end of the operation (RFC 9745, RFC 8594). */
const announcement = {
  Deprecation: '@1795219200',
  Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  Link: '<https://abc123.execute-api.eu-central-1.amazonaws.com/staging/v1/pets>; rel="successor-version"',
};

test('GET /pets/{petId} returns a 200 with the pet, without the attributes that only the service uses', async () => {
  const stored = { id: 42n, name: 'Rex', categoryId: 7n, creation: 'x', list: 'all' };
  mock.on(GetCommand).resolves({ Item: stored });
  const { status, headers, text } = await get('42');
  expect([status, text]).toEqual([200, '{"id":42,"name":"Rex","categoryId":7}']);
  expect(headers).toMatchObject({ 'Cache-Control': 'no-store', ...announcement });
  expect(inputs()).toEqual([{ TableName: 'pets', Key: { id: 42n }, ConsistentRead: true }]);
  expect(occurrences()).toEqual([counted('DeprecatedCalls', { operation: 'getPet' })]);
});

test.each([
  ['43', 'No pet has the id 43.'],
  [
    'abc',
    'petId must be a single integer from -9223372036854775808 to 9223372036854775807 in decimal digits, without leading zeros.',
  ],
])('GET /pets/{petId} returns a 404 for the id %s', async (petId, message) => {
  mock.on(GetCommand).resolves({});
  const { status, headers, text } = await get(petId);
  expect([status, JSON.parse(text)]).toEqual([404, { code: 'not_found', message, status: 404 }]);
  expect(headers).toHaveProperty('Deprecation', announcement.Deprecation);
});

test('GET /pets/{petId} returns a 503 if the database throttles the read', async () => {
  mock.on(GetCommand).rejects(new ThrottlingException({ message: 'Slow down.', $metadata: {} }));
  const { status, body } = await get('42');
  expect([status, body.code]).toEqual([503, 'service_unavailable']);
});
