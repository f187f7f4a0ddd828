import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../functions/get-pet.ts';
import { getPetEvent, REQUEST_ID } from '../support/api-gateway-event.ts';
import { setEnvironment } from '../support/environment.ts';
import { invoke } from '../support/invoke.ts';
import { mock } from '../support/mocked-database.ts';

const rex = { id: 42n, name: 'Rex', categoryId: 2n ** 63n - 1n };

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '1' });
beforeEach(() => {
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('GET /v1/pets/{petId}', () => {
  test('answers 200 with the pet that has this id', async () => {
    mock
      .on(GetCommand, { TableName: 'pets', Key: { id: 42n } })
      .resolves({ Item: { ...rex, creation: 'x', partition: '0' } });
    const { status, text } = await invoke(handler, getPetEvent('%342'));
    expect([status, text]).toEqual([200, '{"id":42,"name":"Rex","categoryId":9223372036854775807}']);
  });

  test('answers 404 when no pet has this id', async () => {
    mock.on(GetCommand).resolves({});
    const { status, body } = await invoke(handler, getPetEvent('42'));
    expect(status).toBe(404);
    expect(body).toEqual({ code: 'not_found', message: 'There is no pet with the id 42.', status: 404n });
  });

  test.each(['abc', '9223372036854775808', '4%'])(
    'answers 404 to %s, which is no id, unread',
    async (petId) => {
      const { status, body } = await invoke(handler, getPetEvent(petId));
      expect([status, body.code]).toEqual([404, 'not_found']);
      expect(mock.calls()).toEqual([]);
    },
  );

  test('answers 503 when the database throttles, and says so on the deprecated way', async () => {
    mock.on(GetCommand).rejects(Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' }));
    const { status, headers, body } = await invoke(handler, getPetEvent('42'));
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'service_unavailable', message: expect.stringContaining(REQUEST_ID) });
    expect(headers).toMatchObject({ 'Retry-After': '1', Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' });
  });
});
