import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/get-pet.ts';
import { getEvent } from '../support/api-gateway-event.ts';
import { invoke } from '../support/invoke.ts';
import { logLines } from '../support/log-lines.ts';
import { mock, setEnvironment } from '../support/mocked-database.ts';

const rex = { id: 42n, name: 'Rex', categoryId: 2n ** 63n - 1n };

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '1' });

describe('GET /v1/pets/{petId}', () => {
  test('returns 200 with the pet', async () => {
    mock
      .on(GetCommand, { TableName: 'pets', Key: { id: 42n } })
      .resolves({ Item: { ...rex, creation: 'x', partition: '0' } });
    const { status, text } = await invoke(handler, getEvent('%342'));
    expect([status, text]).toEqual([200, '{"id":42,"name":"Rex","categoryId":9223372036854775807}']);
    expect(logLines()).toEqual([]);
  });

  test('returns 404 if no pet has this id', async () => {
    mock.on(GetCommand).resolves({});
    const { status, body } = await invoke(handler, getEvent('42'));
    expect(status).toBe(404);
    expect(body).toEqual({ code: 'not_found', message: 'No pet has the id 42.', status: 404n });
  });
});
